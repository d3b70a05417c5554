import { describe, expect, test } from "vitest";
import { bindings } from "./support/bindings.ts";
import { openStream } from "./support/event-stream.ts";
import { call, post, send, TestSession, token } from "./support/session-client.ts";

describe.each(bindings)("sessions over %s", (_, start) => {
  test("registering is idempotent for the same token and refused for another", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    expect(await session.register()).toMatchObject({ status: 200, json: { ok: true } });
    expect(await session.register()).toMatchObject({ status: 200, json: { ok: true } });
    const other = new TestSession(relay, session.id, "token-of-somebody-else");
    expect(await other.register()).toMatchObject({ status: 401, json: { error: "session_taken" } });
  });

  test.each([
    ["a session id that is none", { session: "a b", token }, 401, "invalid_session_id"],
    ["a session id that is too short", { session: "abc", token }, 401, "invalid_session_id"],
    ["a token that is too short", { session: "canvas-1", token: "short" }, 401, "invalid_token"],
    ["no token", { session: "canvas-1" }, 400, "missing_fields"],
    ["no session", { token }, 400, "missing_fields"],
    ["a list", [], 400, "missing_fields"],
    ["no JSON", "{", 400, "invalid_json"],
  ])("registering with %s is refused", async (_name, body, status, error) => {
    await using relay = await start();
    expect(await post(`${relay.url}/register`, body)).toMatchObject({ status, json: { error } });
    expect(relay.broker.stats()).toMatchObject({ sessions: 0 });
  });

  test("a wrong token on a live session is 401, an unknown session 410", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    const wrong = new TestSession(relay, session.id, "token-of-somebody-else");
    const unknown = new TestSession(relay, "nowhere");
    for (const [from, status, error] of [
      [wrong, 401, "invalid_token"],
      [unknown, 410, "session_gone"],
    ] as const) {
      expect(await from.toSurface(call("1"), "a")).toMatchObject({ status, json: { error } });
      expect(await from.toAgents(call("1"))).toMatchObject({ status, json: { error } });
      expect(await from.pollOutbox({ client: "a" })).toMatchObject({ status, json: { error } });
      expect(await from.poll({ client: "a" })).toMatchObject({ status, json: { error } });
      const stream = await from.openAgent("a");
      expect(stream).toMatchObject({ status, headers: { "content-type": "text/event-stream" } });
      expect(await stream.next()).toMatchObject({ event: "error", data: error });
      await stream.ended;
    }
    expect(await wrong.unregister()).toMatchObject({ status: 401 });
  });

  test("the token comes in the query or as a bearer token, never both, never twice", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    await using surface = disposable(await session.openSurface());
    const bare = `${relay.url}/${session.id}/inbox?client=a`;
    const frame = { jsonrpc: "2.0", method: "notifications/initialized" };
    const authorization = `Bearer ${token}`;
    expect(await post(bare, frame, { authorization })).toMatchObject({ status: 200 });
    expect(await post(bare, frame, { authorization: `bearer ${token}` })).toMatchObject({ status: 200 });
    const refused = { status: 401, json: { error: "invalid_token" } };
    expect(await post(bare, frame)).toMatchObject(refused);
    expect(await post(bare, frame, { authorization: `Basic ${token}` })).toMatchObject(refused);
    expect(await post(session.route("inbox", { client: "a" }), frame, { authorization })).toMatchObject(refused);
    expect(await post(`${session.route("inbox", { client: "a" })}&token=${token}`, frame)).toMatchObject(refused);
    const events = `${relay.url}/${session.id}/events?client=a`;
    const stream = await openStream(events, { authorization });
    expect(stream.status).toBe(200);
    stream.close();
    expect(surface.stream.status).toBe(200);
  });

  test("unregistering ends the session: legs are told, later requests are 410, leaving again is a success", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    await session.register();
    const surface = await session.openSurface();
    const agent = await session.openAgent("a");
    const parked = session.pollOutbox({ client: "b", wait: 20 });
    while (relay.broker.stats().polls === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await session.unregister()).toMatchObject({ status: 200, json: { ok: true } });
    expect(await parked).toMatchObject({ status: 410, json: { error: "session_gone" } });
    expect(await agent.next()).toMatchObject({ event: "error", data: "session_gone" });
    await agent.ended;
    await surface.ended;
    expect(await session.toSurface(call("1"), "a")).toMatchObject({ status: 410, json: { error: "session_gone" } });
    expect(await session.unregister()).toMatchObject({ status: 200, json: { ok: true } });
    expect(await session.unregister("a")).toMatchObject({ status: 200, json: { ok: true } });
    expect(relay.broker.stats()).toMatchObject({ sessions: 0, streams: 0, polls: 0 });
  });

  test("the id of an ended session is its surface's for a while", async () => {
    await using relay = await start({ ttlMs: 10_000 });
    const session = new TestSession(relay);
    const other = new TestSession(relay, session.id, "token-of-somebody-else");
    await session.register();
    await session.unregister();
    expect(await other.register()).toMatchObject({ status: 401, json: { error: "session_taken" } });
    expect(await session.register()).toMatchObject({ status: 200 });
    await session.unregister();
    relay.clock.advance(10_001);
    expect(await other.register()).toMatchObject({ status: 200 });
  });

  test("ended sessions are remembered up to a bound", async () => {
    await using relay = await start({ maxTombstones: 1 });
    for (const id of ["first", "second"]) {
      const session = new TestSession(relay, id);
      await session.register();
      await session.unregister();
    }
    const other = "token-of-somebody-else";
    expect(await new TestSession(relay, "second", other).register()).toMatchObject({ status: 401 });
    expect(await new TestSession(relay, "first", other).register()).toMatchObject({ status: 200 });
  });

  test("a session nobody uses ends, and use puts that off", async () => {
    await using relay = await start({ ttlMs: 10_000 });
    const session = new TestSession(relay);
    await session.register();
    relay.clock.advance(9_000);
    await session.toAgents({ jsonrpc: "2.0", method: "notifications/message" });
    relay.clock.advance(9_000);
    expect(relay.broker.stats()).toMatchObject({ sessions: 1 });
    relay.clock.advance(1_100);
    expect(relay.broker.stats()).toMatchObject({ sessions: 0, sessionsExpired: 1 });
    expect(await session.toAgents({ jsonrpc: "2.0", method: "notifications/message" })).toMatchObject({ status: 410 });
  });

  test("an open leg counts as life, however silent", async () => {
    await using relay = await start({ ttlMs: 10_000 });
    const session = new TestSession(relay);
    await session.register();
    const agent = await session.openAgent("a");
    relay.clock.advance(50_000);
    expect(relay.broker.stats()).toMatchObject({ sessions: 1 });
    agent.close();
    while (relay.broker.stats().streams > 0) await new Promise((resolve) => setImmediate(resolve));
    relay.clock.advance(21_000);
    expect(relay.broker.stats()).toMatchObject({ sessions: 0 });
  });

  test("a leg that gave way to another one keeps no session alive", async () => {
    await using relay = await start({ ttlMs: 10_000, maxLegs: 1 });
    const session = new TestSession(relay);
    await session.register();
    const first = await session.openAgent("a");
    const second = await session.openAgent("a");
    await first.ended;
    second.close();
    while (relay.broker.stats().streams > 0) await new Promise((resolve) => setImmediate(resolve));
    relay.clock.advance(31_000);
    expect(relay.broker.stats()).toMatchObject({ sessions: 0 });
  });

  test("one session more than allowed is refused until one ends", async () => {
    await using relay = await start({ maxSessions: 1 });
    const first = new TestSession(relay, "first");
    const second = new TestSession(relay, "second");
    await first.register();
    const refused = await second.register();
    expect(refused).toMatchObject({ status: 503, json: { error: "too_many_sessions" } });
    expect(refused.headers["retry-after"]).toBeDefined();
    await first.unregister();
    expect(await second.register()).toMatchObject({ status: 200 });
  });

  test("no answer may be kept by a cache", async () => {
    await using relay = await start();
    const session = new TestSession(relay);
    for (const answer of [
      await session.register(),
      await session.toAgents({}),
      await send(`${relay.url}/nothing/at/all`),
    ]) {
      expect(answer.headers["cache-control"]).toBe("no-store");
    }
  });
});

function disposable(stream: Awaited<ReturnType<typeof openStream>>) {
  return {
    stream,
    async [Symbol.asyncDispose]() {
      stream.close();
    },
  };
}
