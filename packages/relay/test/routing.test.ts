import { describe, expect, test } from "vitest";
import { bindings } from "./support/bindings.ts";
import { call, joined, left, note, result, TestSession, until } from "./support/session-client.ts";

describe.each(bindings)("routing over %s", (_, start) => {
  async function open(options?: Parameters<typeof start>[0]) {
    const relay = await start(options);
    const session = new TestSession(relay);
    await session.register();
    return { relay, session, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
  }

  test("a response goes only to the client that asked, once", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    const [a, b] = [await session.openAgent("a"), await session.openAgent("b")];
    await session.toSurface(call("of-a"), "a");
    await session.toSurface(call("of-b"), "b");
    expect([await surface.frame(), await surface.frame()]).toEqual([joined("a"), joined("b")]);
    expect([await surface.frame(), await surface.frame()]).toEqual([call("of-a"), call("of-b")]);
    expect(await session.toAgents(result("of-b"))).toMatchObject({ status: 200, json: { ok: true } });
    await session.toAgents(result("of-a"));
    await session.toAgents(result("of-a", { second: true }));
    await session.toAgents(note("end"));
    expect([await a.frame(), await a.frame()]).toEqual([result("of-a"), note("end")]);
    expect([await b.frame(), await b.frame()]).toEqual([result("of-b"), note("end")]);
  });

  test("a response nobody asked for, or without an id, goes to nobody", async () => {
    await using at = await open();
    const { session, relay } = at;
    const agent = await session.openAgent("a");
    expect(await session.toAgents(result("never-asked"))).toMatchObject({ status: 200 });
    await session.toAgents({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } });
    await session.toAgents(note("end"));
    expect(await agent.frame()).toEqual(note("end"));
    expect(relay.broker.stats()).toMatchObject({ framesDropped: 2 });
  });

  test("a notification of the surface goes to every attached agent, labelled or not, and not back", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    const agents = [await session.openAgent("a"), await session.openAgent("b"), await session.openAgent(undefined)];
    await session.toAgents(note("to all"));
    for (const agent of agents) expect(await agent.frame()).toEqual(note("to all"));
    await session.toSurface(note("of an agent"), "a");
    expect([await surface.frame(), await surface.frame(), await surface.frame()]).toEqual([
      joined("a"),
      joined("b"),
      note("of an agent"),
    ]);
  });

  test("unlabelled agents are served beside labelled ones", async () => {
    await using at = await open();
    const { session } = at;
    await session.openSurface();
    const labelled = await session.openAgent("a");
    const unlabelled = await session.openAgent(undefined);
    await session.toSurface(call("anonymous"));
    await session.toSurface(call("named"), "a");
    await session.toAgents(result("named"));
    await session.toAgents(result("anonymous"));
    await session.toAgents(note("end"));
    expect([await unlabelled.frame(), await unlabelled.frame()]).toEqual([result("anonymous"), note("end")]);
    expect([await labelled.frame(), await labelled.frame()]).toEqual([result("named"), note("end")]);
  });

  test.each([
    ["another client", "a", "b"],
    ["the same client", "a", "a"],
    ["another unlabelled agent", undefined, undefined],
    ["an unlabelled agent", "a", undefined],
  ])("an id that is in flight is refused from %s, and free again once answered", async (_name, first, second) => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    const asker = await session.openAgent(first);
    const other = await session.openAgent(second);
    expect(await session.toSurface(call(1, { of: "first" }), first)).toMatchObject({ status: 200 });
    const refused = await session.toSurface(call(1, { of: "second" }), second);
    expect(refused).toMatchObject({ status: 429, json: { error: "request_id_in_flight" } });
    expect(refused.headers["retry-after"]).toBeDefined();
    await session.toAgents(result(1, { for: "first" }));
    expect(await asker.frame()).toEqual(result(1, { for: "first" }));
    expect(await session.toSurface(call(1, { of: "second" }), second)).toMatchObject({ status: 200 });
    await session.toAgents(result(1, { for: "second" }));
    // Legs of one reader all see what is for it; a leg of another client sees its own answers only.
    const expected =
      first === second ? [result(1, { for: "first" }), result(1, { for: "second" })] : [result(1, { for: "second" })];
    for (const frame of expected) expect(await other.frame()).toEqual(frame);
    const calls = [];
    while (calls.length < 2) {
      const frame = await surface.frame();
      if ((frame as { method: string }).method === "tools/call") calls.push(frame);
    }
    expect(calls).toEqual([call(1, { of: "first" }), call(1, { of: "second" })]);
  });

  test("the number 1 and the text 1 are two ids", async () => {
    await using at = await open();
    const { session } = at;
    await session.openSurface();
    const [a, b] = [await session.openAgent("a"), await session.openAgent("b")];
    await session.toSurface(call(1), "a");
    expect(await session.toSurface(call("1"), "b")).toMatchObject({ status: 200 });
    await session.toAgents(result("1"));
    await session.toAgents(result(1));
    expect(await b.frame()).toEqual(result("1"));
    expect(await a.frame()).toEqual(result(1));
  });

  test("one request more in flight than allowed is refused, until one is answered or has grown old", async () => {
    await using at = await open({ maxInFlight: 2, inFlightAgeMs: 30_000 });
    const { session, relay } = at;
    await session.openSurface();
    await session.openAgent("a");
    for (const id of ["1", "2"]) expect(await session.toSurface(call(id), "a")).toMatchObject({ status: 200 });
    const refused = await session.toSurface(call("3"), "a");
    expect(refused).toMatchObject({ status: 429, json: { error: "too_many_in_flight" } });
    expect(refused.headers["retry-after"]).toBeDefined();
    expect(await session.toSurface(note("no request"), "a")).toMatchObject({ status: 200 });
    await session.toAgents(result("1"));
    expect(await session.toSurface(call("3"), "a")).toMatchObject({ status: 200 });
    relay.clock.advance(30_001);
    expect(await session.toSurface(call("4"), "a")).toMatchObject({ status: 200 });
    expect(relay.broker.stats()).toMatchObject({ inFlight: 2 });
  });

  test("a thousand requests may be in flight by default, and the next one is told", async () => {
    await using at = await open();
    const { session, relay } = at;
    const [caller] = [{ session: session.id, token: session.token, client: "a" }];
    for (let id = 0; id < 1_000; id++) {
      expect(relay.broker.sendToSurface(caller, JSON.stringify(call(`id-${id}`)))).toBeUndefined();
    }
    expect(await session.toSurface(call("one more"), "a")).toMatchObject({ json: { error: "too_many_in_flight" } });
  });

  test("peers may not claim that somebody joined or left", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    const agent = await session.openAgent("a");
    expect(await surface.frame()).toEqual(joined("a"));
    await session.toSurface(joined("ghost"), "a");
    await session.toSurface(left("a"), "a");
    await session.toSurface(note("end"), "a");
    expect(await surface.frame()).toEqual(note("end"));
    await session.toAgents(joined("ghost"));
    await session.toAgents(note("end"));
    expect(await agent.frame()).toEqual(note("end"));
  });

  test("agents are asked nothing: a request of the surface is refused, a response of an agent is dropped", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    expect(await session.toAgents(call("of the surface"))).toMatchObject({ status: 400 });
    expect(await session.toSurface(result("of an agent"), "a")).toMatchObject({ status: 200 });
    await session.toSurface(note("end"), "a");
    expect(await surface.frame()).toEqual(note("end"));
  });

  test("nobody at the surface's end is said, except for five seconds after it left", async () => {
    await using at = await open();
    const { session, relay } = at;
    const surface = await session.openSurface();
    surface.close();
    await until(() => relay.broker.stats().streams === 0);
    relay.clock.advance(4_900);
    expect(await session.toSurface(call("kept"), "a")).toMatchObject({ status: 200 });
    relay.clock.advance(200);
    const refused = await session.toSurface(call("lost"), "a");
    expect(refused).toMatchObject({ status: 503, json: { error: "surface_absent" } });
    const reloaded = await session.openSurface();
    expect(await session.toSurface(note("end"), "a")).toMatchObject({ status: 200 });
    expect([await reloaded.frame(), await reloaded.frame()]).toEqual([call("kept"), note("end")]);
    // The refused request is not remembered: its id is free.
    expect(await session.toSurface(call("lost"), "a")).toMatchObject({ status: 200 });
  });

  test("a surface that has just registered is about to come", async () => {
    await using at = await open();
    const { session, relay } = at;
    expect(await session.toSurface(call("early"), "a")).toMatchObject({ status: 200 });
    relay.clock.advance(5_100);
    expect(await session.toSurface(call("late"), "a")).toMatchObject({ status: 503 });
    await session.register();
    expect(await session.toSurface(call("again"), "a")).toMatchObject({ status: 200 });
  });

  test("a surface that polls is there between its polls", async () => {
    await using at = await open();
    const { session, relay } = at;
    for (let round = 0; round < 3; round++) {
      expect(await session.poll({ direction: "inbound", wait: 0 })).toMatchObject({ status: 200 });
      relay.clock.advance(4_000);
      expect(await session.toSurface(call(`round-${round}`), "a")).toMatchObject({ status: 200 });
    }
  });

  test("a client is announced once, and has left five seconds after its last leg closed", async () => {
    await using at = await open();
    const { session, relay } = at;
    const surface = await session.openSurface();
    for (let round = 0; round < 3; round++) {
      const agent = await session.openAgent("a");
      agent.close();
      await until(() => relay.broker.stats().streams === 1);
      relay.clock.advance(4_900);
    }
    expect(await surface.frame()).toEqual(joined("a"));
    relay.clock.advance(200);
    expect(await surface.frame()).toEqual(left("a"));
    await session.openAgent("a");
    expect(await surface.frame()).toEqual(joined("a"));
  });

  test("a client with two legs has left when the second one closed", async () => {
    await using at = await open();
    const { session, relay } = at;
    const surface = await session.openSurface();
    const [first, second] = [await session.openAgent("a"), await session.openAgent("a")];
    first.close();
    await until(() => relay.broker.stats().streams === 2);
    relay.clock.advance(10_000);
    await session.toSurface(note("still here"), "a");
    expect([await surface.frame(), await surface.frame()]).toEqual([joined("a"), note("still here")]);
    second.close();
    await until(() => relay.broker.stats().streams === 1);
    relay.clock.advance(5_100);
    expect(await surface.frame()).toEqual(left("a"));
  });

  test("posting alone announces nobody, and unlabelled agents are never announced", async () => {
    await using at = await open();
    const { session } = at;
    const surface = await session.openSurface();
    await session.openAgent(undefined);
    await session.toSurface(note("first"), "a");
    await session.openAgent("b");
    expect([await surface.frame(), await surface.frame()]).toEqual([note("first"), joined("b")]);
  });

  test("unregistering with a client removes that agent only", async () => {
    await using at = await open();
    const { session, relay } = at;
    const surface = await session.openSurface();
    const [a, b] = [await session.openAgent("a"), await session.openAgent("b")];
    await session.toSurface(call("of-a"), "a");
    await session.toSurface(call("of-b"), "b");
    expect(await session.unregister("a")).toMatchObject({ status: 200, json: { ok: true } });
    await a.ended;
    expect(await session.unregister("a")).toMatchObject({ status: 200 });
    for (const expected of [joined("a"), joined("b"), call("of-a"), call("of-b"), left("a")]) {
      expect(await surface.frame()).toEqual(expected);
    }
    await session.toAgents(result("of-a"));
    await session.toAgents(result("of-b"));
    expect(await b.frame()).toEqual(result("of-b"));
    relay.clock.advance(10_000);
    await session.toSurface(note("end"), "b");
    expect(await surface.frame()).toEqual(note("end"));
    const again = await session.openAgent("a");
    await session.toAgents(note("end"));
    expect(await again.frame()).toEqual(note("end"));
  });

  test("a client away for longer than frames are kept is forgotten, with what it asked", async () => {
    await using at = await open({ queueAgeMs: 20_000 });
    const { session, relay } = at;
    await session.openSurface();
    const agent = await session.openAgent("a");
    await session.toSurface(call("1"), "a");
    agent.close();
    await until(() => relay.broker.stats().streams === 1);
    expect(relay.broker.stats()).toMatchObject({ clients: 1, inFlight: 1 });
    relay.clock.advance(21_000);
    expect(relay.broker.stats()).toMatchObject({ clients: 0, inFlight: 0 });
  });

  test("one client more than allowed is refused, until one is away", async () => {
    await using at = await open({ maxClients: 2 });
    const { session, relay } = at;
    await session.openSurface();
    const a = await session.openAgent("a");
    await session.openAgent("b");
    expect(await session.toSurface(call("1"), "c")).toMatchObject({ status: 429, json: { error: "too_many_clients" } });
    expect((await session.openAgent("c")).status).toBe(429);
    a.close();
    await until(() => relay.broker.stats().streams === 2);
    relay.clock.advance(5_100);
    expect(await session.toSurface(call("1"), "c")).toMatchObject({ status: 200 });
  });
});
