import { describe, expect, test } from "vitest";
import { bindings } from "./support/bindings.ts";
import { openStream } from "./support/event-stream.ts";
import { call, joined, note, post, result, send, TestSession, until } from "./support/session-client.ts";

describe.each(bindings)("event streams over %s", (_, start) => {
  async function open(options?: Parameters<typeof start>[0]) {
    const relay = await start(options);
    const session = new TestSession(relay);
    await session.register();
    return { relay, session, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
  }

  test("a stream begins with retry and a cursor, and carries frames as events with ids", async () => {
    await using at = await open();
    const agent = await at.session.openAgent("a");
    expect(agent).toMatchObject({
      status: 200,
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" },
    });
    await agent.until("\n\n");
    expect(agent.text()).toMatch(/^retry: 2000\nid: \S+\n\n$/);
    await at.session.toAgents(note("hello"));
    const event = await agent.next();
    expect(event).toEqual({ event: "mcp", data: JSON.stringify(note("hello")), id: agent.cursor() });
  });

  test("a keepalive comment comes every fifteen seconds", async () => {
    await using at = await open();
    const agent = await at.session.openAgent("a");
    await agent.until("retry");
    at.relay.clock.advance(14_000);
    await at.session.toAgents(note("before"));
    await agent.frame();
    expect(agent.text()).not.toContain(": keepalive");
    at.relay.clock.advance(1_100);
    await agent.until(": keepalive\n\n");
    at.relay.clock.advance(15_100);
    await agent.until(": keepalive\n\n: keepalive\n\n");
  });

  test("a stream without direction is outbound with a client, else inbound", async () => {
    await using at = await open();
    const { session } = at;
    const inbound = await openStream(session.route("events"));
    const explicit = await openStream(session.route("events", { client: "surface", direction: "inbound" }));
    const outbound = await openStream(session.route("events", { client: "a" }));
    await session.toSurface(note("for the surface"), "a");
    await session.toAgents(note("for agents"));
    expect(await outbound.frame()).toEqual(note("for agents"));
    for (const surface of [inbound, explicit]) {
      expect([await surface.frame(), await surface.frame()]).toEqual([joined("a"), note("for the surface")]);
    }
  });

  test.each([
    ["direction", { direction: "sideways", client: "a" }],
    ["client", { client: "" }],
    ["client", { client: "not visible: \u0007" }],
  ])("a stream with a %s that is none is refused", async (_name, query) => {
    await using at = await open();
    expect(await send(at.session.route("events", query))).toMatchObject({
      status: 400,
      json: { error: "missing_fields" },
    });
  });

  test("a frame is carried as it came, on one line", async () => {
    await using at = await open();
    const { session } = at;
    const agent = await session.openAgent("a");
    const text =
      '{\r\n  "jsonrpc": "2.0",\n\t"method": "notifications/message",\r  "params": {"n": 1.0, "big": 12345678901234567890, "text": "a\\nb é 😀 \u2028"}\n}\n';
    expect(await post(session.route("outbox"), text)).toMatchObject({ status: 200 });
    expect((await agent.next()).data).toBe(text.replaceAll(/[\r\n]/g, " "));
  });

  test("a reply that comes before the leg is open waits for it", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    await session.toSurface(call("1"), "a");
    expect(await surface.frame()).toEqual(call("1"));
    await session.toAgents(result("1"));
    expect(await (await session.openAgent("a")).frame()).toEqual(result("1"));
  });

  test("a reader that comes back with its cursor gets what came after it, once", async () => {
    await using at = await open();
    const { session, relay } = at;
    const first = await session.openAgent("a");
    for (const name of ["one", "two", "three"]) await session.toAgents(note(name));
    const cursor = (await first.next()).id;
    await first.frame();
    await first.frame();
    first.close();
    await until(() => relay.broker.stats().streams === 0);
    await session.toAgents(note("four"));
    const second = await session.openAgent("a", cursor);
    await session.toAgents(note("five"));
    const frames = [];
    for (let count = 0; count < 4; count++) frames.push(await second.frame());
    expect(frames).toEqual(["two", "three", "four", "five"].map(note));
  });

  test("a reader that saw no frame can come back with the cursor of the opening", async () => {
    await using at = await open();
    const { session } = at;
    const first = await session.openAgent("a");
    await first.until("id: ");
    const cursor = first.cursor();
    await session.toAgents(note("one"));
    await first.frame();
    first.close();
    expect(await (await session.openAgent("a", cursor)).frame()).toEqual(note("one"));
  });

  test("a reader without a cursor gets what no leg has read", async () => {
    await using at = await open();
    const { session, relay } = at;
    const first = await session.openAgent("a");
    await session.toAgents(note("read"));
    await first.frame();
    first.close();
    await until(() => relay.broker.stats().streams === 0);
    await session.toAgents(note("unread"));
    expect(await (await session.openAgent("a")).frame()).toEqual(note("unread"));
  });

  test("a reply that is written to a stream which its reader has just closed is not lost", async () => {
    await using at = await open();
    const { session, relay } = at;
    await session.openSurface();
    for (let round = 0; round < 10; round++) {
      const id = `round ${round}`;
      await session.toSurface(call(id), "a");
      const dying = await session.openAgent("a");
      await dying.until("retry");
      dying.close(); // the relay learns of it after the reply, or before: both must hold
      await session.toAgents(result(id));
      const next = await session.openAgent("a");
      expect(await next.frame()).toEqual(result(id));
      next.close();
      await until(() => relay.broker.stats().streams === 1);
    }
  });

  test.each([
    ["its cursor", (cursor: string) => cursor],
    ["no cursor", () => undefined],
    ["a cursor of another time", () => "0a0b0c0d-17"],
    ["a cursor nobody minted", () => "x"],
  ])(
    "frames over the bound of count are lost from the oldest on, and a reader with %s is told",
    async (_name, from) => {
      await using at = await open({ queueFrames: 3 });
      const { session, relay } = at;
      const first = await session.openAgent("a");
      await session.toAgents(note("0"));
      const { id } = await first.next();
      first.close();
      await until(() => relay.broker.stats().streams === 0);
      for (const name of ["1", "2", "3", "4", "5"]) await session.toAgents(note(name));
      const reader = await session.openAgent("a", from(id as string));
      expect(await reader.next()).toMatchObject({ event: "gap", data: "{}" });
      for (const name of ["3", "4", "5"]) expect(await reader.frame()).toEqual(note(name));
      expect(relay.broker.stats()).toMatchObject({ gaps: 1, keptFrames: 3 + 1 });
    },
  );

  test("frames over the bounds of bytes and of age are lost, and the reader is told", async () => {
    await using at = await open({ queueBytes: 3_000, maxFrameBytes: 3_000, queueAgeMs: 60_000 });
    const { session, relay } = at;
    const surface = await session.openSurface();
    await surface.until("id: ");
    const cursor = surface.cursor() as string;
    surface.close();
    await until(() => relay.broker.stats().streams === 0);
    for (const name of ["1", "2", "3"]) await session.toSurface(note(name.padEnd(1_200, ".")), "a");
    const second = await session.openSurface(cursor);
    expect((await second.next()).event).toBe("gap");
    expect(await second.frame()).toEqual(note("2".padEnd(1_200, ".")));
    expect(await second.frame()).toEqual(note("3".padEnd(1_200, ".")));
    second.close();
    await until(() => relay.broker.stats().streams === 0);
    relay.clock.advance(61_000);
    const third = await session.openSurface(cursor);
    expect((await third.next()).event).toBe("gap");
    await session.toSurface(note("fresh"), "a");
    expect(await third.frame()).toEqual(note("fresh"));
  });

  test("a reader that has read everything is told of no gap, however long it was away", async () => {
    await using at = await open({ queueAgeMs: 10_000, ttlMs: 1_000_000 });
    const { session, relay } = at;
    const first = await session.openAgent("a");
    await session.toAgents(note("read"));
    await first.frame();
    const cursor = first.cursor();
    first.close();
    await until(() => relay.broker.stats().streams === 0);
    relay.clock.advance(100_000);
    const second = await session.openAgent("a", cursor);
    await session.toAgents(note("next"));
    expect(await second.frame()).toEqual(note("next"));
  });

  test("a client that was forgotten while notifications went by is told of the gap", async () => {
    await using at = await open({ queueAgeMs: 10_000 });
    const { session, relay } = at;
    const first = await session.openAgent("a");
    await first.until("id: ");
    first.close();
    await until(() => relay.broker.stats().streams === 0);
    relay.clock.advance(20_000);
    await session.toAgents(note("missed"));
    expect(await (await session.openAgent("a", first.cursor())).next()).toMatchObject({ event: "gap" });
  });

  test("a surface that registers again after a restart is told that its cursor means nothing", async () => {
    await using before = await open();
    const surface = await before.session.openSurface();
    await surface.until("id: ");
    await using after = await open();
    const again = await after.session.openSurface(surface.cursor());
    expect(await again.next()).toMatchObject({ event: "gap" });
    await after.session.toSurface(note("on"), "a");
    expect(await again.frame()).toEqual(note("on"));
  });

  test("legs of one client all get what is for it, and one leg too many ends the oldest", async () => {
    await using at = await open({ maxLegs: 2 });
    const { session, relay } = at;
    const [first, second] = [await session.openAgent("a"), await session.openAgent("a")];
    await session.toAgents(note("both"));
    expect([await first.frame(), await second.frame()]).toEqual([note("both"), note("both")]);
    const third = await session.openAgent("a");
    await first.ended;
    expect(first.text()).not.toContain("event: error");
    await session.toAgents(note("the others"));
    expect([await second.frame(), await third.frame()]).toEqual([note("the others"), note("the others")]);
    expect(relay.broker.stats()).toMatchObject({ streams: 2, clients: 1 });
  });

  test("a reader that takes nothing is cut off, costs a bounded amount, and finds its queue when it comes back", async () => {
    await using at = await open({ maxStalledBytes: 100_000 });
    const { session, relay } = at;
    const slow = await session.openAgent("a");
    await slow.until("id: ");
    slow.pause();
    const quick = await session.openAgent("b");
    const big = "x".repeat(100_000);
    let sent = 0;
    while (relay.broker.stats().slowReadersCut === 0) {
      await session.toAgents(note(`${sent++}:${big}`));
      await quick.frame();
      expect(sent).toBeLessThan(1_000);
    }
    expect(relay.broker.stats().keptBytes).toBeLessThanOrEqual(3 * 1_048_576);
    await until(() => relay.broker.stats().streams === 1);
    const again = await session.openAgent("a");
    const names: number[] = [];
    while (names.at(-1) !== sent - 1) {
      const { event, data } = await again.next();
      if (event === "mcp") names.push(Number(JSON.parse(data).params.data.split(":")[0]));
    }
    expect(names).toEqual(Array.from({ length: names.length }, (_value, index) => sent - names.length + index));
  });

  test("a healthy reader of a full queue is not cut off", async () => {
    await using at = await open({ maxStalledBytes: 1_000 });
    const { session, relay } = at;
    const surface = await session.openSurface();
    const big = "x".repeat(90_000);
    for (let index = 0; index < 11; index++) await session.toSurface(note(`${index}:${big}`), "a");
    for (let index = 0; index < 11; index++) await surface.frame();
    await surface.until("id: ");
    surface.close();
    const again = await openStream(session.route("events"), { "last-event-id": first(surface.text()) });
    for (let index = 0; index < 11; index++) expect(await again.frame()).toEqual(note(`${index}:${big}`));
    expect(relay.broker.stats()).toMatchObject({ slowReadersCut: 0 });
  });
});

function first(text: string): string {
  return /^id: (\S+)$/m.exec(text)?.[1] ?? "";
}
