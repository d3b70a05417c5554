import { describe, expect, test } from "vitest";
import { startRelay } from "../src/start-relay.ts";
import { bindings } from "./support/bindings.ts";
import { call, result, send, TestSession, until } from "./support/session-client.ts";

describe.each(bindings)("draining over %s", (_, start) => {
  test("answers in flight are still delivered, and everything new is refused", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    await session.openSurface();
    const agent = await session.openAgent("a");
    await session.toSurface(call("1"), "a");
    relay.broker.drain();
    let isIdle = false;
    const idle = relay.broker.idle(60_000).then(() => {
      isIdle = true;
    });
    const refused = { status: 503, json: { error: "shutting_down" }, headers: { "retry-after": "1" } };
    expect(await session.toSurface(call("2"), "a")).toMatchObject(refused);
    expect(await session.register()).toMatchObject(refused);
    expect(await session.poll({ client: "a" })).toMatchObject(refused);
    expect(await send(session.route("events"))).toMatchObject(refused);
    expect(await send(`${relay.url}/`)).toMatchObject(refused);
    expect(isIdle).toBe(false);
    expect(await session.toAgents(result("1"))).toMatchObject({ status: 200 });
    expect(await agent.frame()).toEqual(result("1"));
    await idle;
  });

  test("waiting for answers ends with its time", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    await session.toSurface(call("1"), "a");
    const idle = relay.broker.idle(5_000);
    relay.clock.advance(5_000);
    await idle;
    expect(relay.broker.stats()).toMatchObject({ inFlight: 1 });
  });

  test("closing tells every leg why", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    const agent = await session.openAgent("a");
    const parked = session.pollOutbox({ client: "b", wait: 20 });
    await until(() => relay.broker.stats().polls === 1);
    relay.broker.close();
    expect(await agent.next()).toMatchObject({ event: "error", data: "shutting_down" });
    await agent.ended;
    expect(await parked).toMatchObject({ status: 503, json: { error: "shutting_down" } });
  });
});

test("a relay that closes tells its legs, keeps no connection and no timer", async () => {
  const relay = await startRelay();
  const session = new TestSession(relay);
  await session.register();
  const agent = await session.openAgent("a");
  await Promise.all([relay.close(), relay.close()]);
  expect(await agent.next()).toMatchObject({ event: "error", data: "shutting_down" });
  await agent.ended;
  await expect(send(`${relay.url}/`)).rejects.toThrow("ECONNREFUSED");
});
