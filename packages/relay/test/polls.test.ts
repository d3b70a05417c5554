import { describe, expect, test } from "vitest";
import { bindings } from "./support/bindings.ts";
import { call, joined, note, result, send, TestSession, until } from "./support/session-client.ts";

describe.each(bindings)("long polls over %s", (_, start) => {
  async function open(options?: Parameters<typeof start>[0]) {
    const relay = await start(options);
    const session = new TestSession(relay);
    await session.register();
    const isParked = (count = 1) => until(() => relay.broker.stats().polls === count);
    return { relay, session, isParked, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
  }

  test("dialect outbox answers with frames and a cursor, and continues after it", async () => {
    await using at = await open();
    const { session } = at;
    await session.openSurface();
    await session.toSurface(call("1"), "a");
    await session.toAgents(result("1"));
    await session.toAgents(note("one"));
    const first = await session.pollOutbox({ client: "a", wait: 5 });
    expect(first).toMatchObject({ status: 200, json: { frames: [result("1"), note("one")] } });
    await session.toAgents(note("two"));
    const again = await session.pollOutbox({ client: "a", wait: 5, after: first.json.cursor });
    expect(again.json).toEqual({ frames: [note("two")], cursor: expect.any(String) });
    const repeated = await session.pollOutbox({ client: "a", wait: 5, after: first.json.cursor });
    expect(repeated.json).toEqual(again.json);
  });

  test("dialect poll answers with a subscriber and frames as JSON text, and continues for the subscriber", async () => {
    await using at = await open();
    const { session } = at;
    const first = await session.poll({ client: "a", direction: "outbound", wait: 0 });
    expect(first.json).toEqual({ subscriber: expect.stringMatching(/^[0-9a-f]{16}$/), frames: [] });
    const { subscriber } = first.json;
    await session.toAgents(note("one"));
    const second = await session.poll({ client: "a", subscriber, wait: 5_000 });
    expect(second.json).toEqual({ subscriber, frames: [JSON.stringify(note("one"))] });
    const third = await session.poll({ client: "a", subscriber, wait: 0 });
    expect(third.json).toEqual({ subscriber, frames: [] });
  });

  test.each([
    ["outbox", "seconds", 2, 2_000],
    ["poll", "milliseconds", 2_000, 2_000],
    ["outbox", "seconds, clamped", 600, 25_000],
    ["poll", "milliseconds, clamped", 600_000, 25_000],
    ["outbox", "five seconds by default", undefined, 5_000],
    ["poll", "five seconds by default", undefined, 5_000],
  ] as const)("dialect %s waits %s", async (dialect, _unit, wait, expectedMs) => {
    await using at = await open();
    const { session, relay } = at;
    const query = { client: "a", ...(wait === undefined ? {} : { wait }) };
    const parked = dialect === "outbox" ? session.pollOutbox(query) : session.poll(query);
    await at.isParked();
    relay.clock.advance(expectedMs - 50);
    expect(relay.broker.stats()).toMatchObject({ polls: 1 });
    relay.clock.advance(100);
    expect((await parked).json.frames).toEqual([]);
  });

  test("a parked poll is answered as soon as there is a frame", async () => {
    await using at = await open();
    const { session } = at;
    const parked = [
      session.pollOutbox({ client: "a", wait: 25 }),
      session.poll({ client: "b", wait: 25_000 }),
      session.poll({ direction: "inbound", wait: 25_000 }),
    ];
    await at.isParked(2); // the surface's is answered by the first peer_joined
    await session.toAgents(note("now"));
    const [a, b, surface] = await Promise.all(parked);
    expect(a?.json.frames).toEqual([note("now")]);
    expect(b?.json.frames).toEqual([JSON.stringify(note("now"))]);
    expect(["a", "b"].map(joined).map((frame) => JSON.stringify(frame))).toContain(surface?.json.frames[0]);
  });

  test("a poll without direction is outbound with a client, else inbound; dialect outbox is always outbound", async () => {
    await using at = await open();
    const { session } = at;
    await session.toSurface(note("for the surface"), "a");
    await session.toAgents(note("for agents"));
    expect((await session.poll({ client: "a", wait: 0 })).json.frames).toEqual([JSON.stringify(note("for agents"))]);
    expect((await session.poll({ wait: 0 })).json.frames[0]).toBe(JSON.stringify(note("for the surface")));
    const claimed = await session.pollOutbox({ client: "a", direction: "inbound", wait: 0 });
    expect(claimed.json.frames).toEqual([]); // already read, and not the surface's
    expect((await session.pollOutbox({ wait: 0 })).json.frames).toEqual([]);
  });

  test.each(["outbox", "poll"] as const)("an abandoned poll of dialect %s loses nothing", async (dialect) => {
    await using at = await open();
    const { session, relay } = at;
    const poll = (signal?: AbortSignal) => {
      const options = signal === undefined ? {} : { signal };
      return dialect === "outbox"
        ? session.pollOutbox({ client: "a", wait: 20 }, options)
        : session.poll({ client: "a", wait: 20_000, ...(subscriber ? { subscriber } : {}) }, options);
    };
    const subscriber = dialect === "poll" ? (await session.poll({ client: "a", wait: 0 })).json.subscriber : undefined;
    for (let round = 0; round < 10; round++) {
      const aborter = new AbortController();
      const abandoned = poll(aborter.signal).catch(() => "aborted");
      await at.isParked();
      // The frame meets the abandoned poll before or after the relay learns that it was abandoned.
      aborter.abort();
      await session.toAgents(note(`round ${round}`));
      expect(await abandoned).toBe("aborted");
      const { frames } = (await poll()).json;
      const expected = note(`round ${round}`);
      expect(frames).toEqual([dialect === "outbox" ? expected : JSON.stringify(expected)]);
    }
    expect(relay.broker.stats()).toMatchObject({ polls: 0 });
  });

  test("an abandoned poll closes its leg", async () => {
    await using at = await open();
    const { session, relay } = at;
    const aborter = new AbortController();
    const abandoned = session.pollOutbox({ client: "a", wait: 20 }, { signal: aborter.signal }).catch(() => "aborted");
    await at.isParked();
    aborter.abort();
    expect(await abandoned).toBe("aborted");
    await at.isParked(0);
    expect(relay.broker.stats()).toMatchObject({ clients: 1 });
  });

  test("two subscribers of one client each get every frame", async () => {
    await using at = await open();
    const { session } = at;
    const names = [];
    for (let count = 0; count < 2; count++) names.push((await session.poll({ client: "a", wait: 0 })).json.subscriber);
    expect(names[0]).not.toBe(names[1]);
    await session.toAgents(note("one"));
    for (const subscriber of names) {
      expect((await session.poll({ client: "a", subscriber, wait: 0 })).json.frames).toHaveLength(1);
      expect((await session.poll({ client: "a", subscriber, wait: 0 })).json.frames).toHaveLength(0);
    }
  });

  test("the same subscriber polling twice at once: the earlier poll is answered empty, the later one gets the frames", async () => {
    await using at = await open();
    const { session } = at;
    const { subscriber } = (await session.poll({ client: "a", wait: 0 })).json;
    const earlier = session.poll({ client: "a", subscriber, wait: 20_000 });
    await at.isParked();
    const later = session.poll({ client: "a", subscriber, wait: 20_000 });
    expect((await earlier).json).toEqual({ subscriber, frames: [] });
    await session.toAgents(note("one"));
    expect((await later).json.frames).toHaveLength(1);
  });

  test("a subscriber that was forgotten gets another name and is told of the gap", async () => {
    await using at = await open({ maxLegs: 1 });
    const { session } = at;
    const { subscriber } = (await session.poll({ client: "a", wait: 0 })).json;
    await session.poll({ client: "a", wait: 0 });
    const again = await session.poll({ client: "a", subscriber, wait: 20_000 });
    expect(again.json).toEqual({ subscriber: expect.stringMatching(/^[0-9a-f]{16}$/), frames: [], gap: true });
    expect(again.json.subscriber).not.toBe(subscriber);
  });

  test("frames that were lost are said, in both dialects, at once", async () => {
    await using at = await open({ queueFrames: 2 });
    const { session } = at;
    const { cursor } = (await session.pollOutbox({ client: "a", wait: 0 })).json;
    const { subscriber } = (await session.poll({ client: "a", wait: 0 })).json;
    for (const name of ["1", "2", "3"]) await session.toAgents(note(name));
    const frames = [note("2"), note("3")];
    expect((await session.pollOutbox({ client: "a", after: cursor, wait: 20 })).json).toMatchObject({
      frames,
      gap: true,
    });
    expect((await session.poll({ client: "a", subscriber, wait: 20_000 })).json).toEqual({
      subscriber,
      frames: frames.map((frame) => JSON.stringify(frame)),
      gap: true,
    });
    for (const after of ["0", "nonsense", "x".repeat(256)]) {
      expect((await session.pollOutbox({ client: "b", after, wait: 20 })).json).toMatchObject({ gap: true });
    }
  });

  test("a cursor of a stream is one of a poll as well", async () => {
    await using at = await open();
    const { session, relay } = at;
    const stream = await session.openAgent("a");
    await session.toAgents(note("one"));
    await session.toAgents(note("two"));
    const after = (await stream.next()).id as string;
    await stream.frame();
    stream.close();
    await until(() => relay.broker.stats().streams === 0);
    expect((await session.pollOutbox({ client: "a", after, wait: 0 })).json.frames).toEqual([note("two")]);
  });

  test.each([
    ["outbox", { wait: "soon" }],
    ["outbox", { wait: -1 }],
    ["outbox", { after: "" }],
    ["outbox", { after: "x".repeat(257) }],
    ["poll", { subscriber: "ABCDEF0123456789" }],
    ["poll", { subscriber: "17" }],
    ["poll", { direction: "both" }],
    ["poll", { client: "" }],
    ["outbox", { client: "x".repeat(129) }],
  ])("a poll of dialect %s with %j is refused", async (path, query) => {
    await using at = await open();
    const poll = path === "outbox" ? at.session.pollOutbox(query as never) : at.session.poll(query as never);
    expect(await poll).toMatchObject({ status: 400, json: { error: "missing_fields" } });
  });

  test("a parameter given twice is refused, an unknown one ignored", async () => {
    await using at = await open();
    const { session } = at;
    expect((await session.poll({ client: "a", wait: 0, colour: "blue" })).status).toBe(200);
    expect(await send(`${session.route("poll", { client: "a" })}&client=b`)).toMatchObject({ status: 400 });
  });
});
