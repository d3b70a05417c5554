import { Agent, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { startRelay } from "../src/start-relay.ts";
import { bindings } from "./support/bindings.ts";
import { call, note, post, send, TestSession } from "./support/session-client.ts";

describe.each(bindings)("bounds and malformed requests over %s", (_, start) => {
  async function open(options?: Parameters<typeof start>[0]) {
    const relay = await start(options);
    const session = new TestSession(relay);
    await session.register();
    return { relay, session, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
  }

  const sized = (bytes: number) => {
    const empty = JSON.stringify(note(""));
    return JSON.stringify(note("x".repeat(bytes - empty.length)));
  };

  test("a frame of exactly the cap passes, one byte more is 413, and the connection is kept", async () => {
    await using at = await open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const exchange = (body: string, isChunked: boolean) =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(at.session.route("outbox"), { method: "POST", agent }, (answer) => {
          ports.add(answer.socket.localPort);
          answer.resume().once("end", () => resolve(answer.statusCode));
        });
        sent.once("error", reject);
        if (isChunked) sent.write(body.slice(0, 10));
        sent.end(isChunked ? body.slice(10) : body);
      });
    for (const isChunked of [false, true]) {
      expect(await exchange(sized(262_144), isChunked)).toBe(200);
      expect(await exchange(sized(262_145), isChunked)).toBe(413);
      expect(await exchange(sized(3_000_000), isChunked)).toBe(413);
      expect(await exchange(sized(100), isChunked)).toBe(200);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
    expect(await post(at.session.route("outbox"), sized(262_145))).toMatchObject({
      json: { error: "payload_too_large" },
    });
    expect(at.relay.broker.stats()).toMatchObject({ framesDropped: 0 });
  });

  test("the cap counts bytes, not characters", async () => {
    await using at = await open({ maxFrameBytes: 1_000 });
    expect(await post(at.session.route("outbox"), note("é".repeat(600)))).toMatchObject({ status: 413 });
    expect(await post(at.session.route("outbox"), note("e".repeat(600)))).toMatchObject({ status: 200 });
  });

  test.each([
    ["no JSON", "{", "invalid_json"],
    ["nothing", "", "invalid_json"],
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22]), "invalid_json"],
    ["a batch", [note("a")], "missing_fields"],
    ["no version", { id: "1", method: "ping" }, "missing_fields"],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, "missing_fields"],
    ["a response without a result", { jsonrpc: "2.0", id: "1" }, "missing_fields"],
    ["a number", 17, "missing_fields"],
  ])("a frame that is %s is refused", async (_name, frame, error) => {
    await using at = await open();
    const body = Buffer.isBuffer(frame) || typeof frame === "string" ? frame : JSON.stringify(frame);
    for (const path of ["inbox", "outbox"]) {
      const answer = await send(at.session.route(path, path === "inbox" ? { client: "a" } : {}), {
        method: "POST",
        body,
      });
      expect(answer).toMatchObject({ status: 400, json: { error } });
    }
  });

  test("a frame with a byte order mark is a frame", async () => {
    await using at = await open();
    const agent = await at.session.openAgent("a");
    expect(await post(at.session.route("outbox"), `\ufeff${JSON.stringify(note("marked"))}`)).toMatchObject({
      status: 200,
    });
    expect((await agent.next()).data).toBe(JSON.stringify(note("marked")));
  });

  test.each([
    ["GET", "/register", 405, "method_not_allowed", "POST"],
    ["POST", "/canvas-1/events", 405, "method_not_allowed", "GET"],
    ["PUT", "/canvas-1/outbox", 405, "method_not_allowed", "POST, GET"],
    ["GET", "/canvas-1/inbox", 405, "method_not_allowed", "POST"],
    ["GET", "/canvas-1/elsewhere", 404, "not_found", undefined],
    ["GET", "/canvas-1/events/more", 404, "not_found", undefined],
    ["POST", "/inbox", 400, "missing_session", undefined],
    ["GET", "//events", 400, "missing_session", undefined],
    ["GET", "/a%20b/events", 401, undefined, undefined],
    ["POST", "/a%20b/inbox", 401, "invalid_session_id", undefined],
    ["POST", "/%zz/inbox", 404, "not_found", undefined],
    ["POST", "/canvas-1/inbox?client=%zz", 400, "missing_fields", undefined],
  ])("%s %s is %i", async (method, path, status, error, allow) => {
    await using at = await open();
    const answer = await send(`${at.relay.url}${path}`, { method });
    expect(answer).toMatchObject({ status, ...(error === undefined ? {} : { json: { error } }) });
    expect(answer.headers.allow).toBe(allow);
  });

  test("other paths of the host are none of the relay's, and long ones neither", async () => {
    await using at = await open();
    const { origin } = new URL(at.relay.url);
    for (const path of ["/", "/agent-relayed/", "/register", `/agent-relay/?x=${"x".repeat(5_000)}`]) {
      expect(await send(`${origin}${path}`)).toMatchObject({ status: 404, json: { error: "not_found" } });
    }
  });

  test("health answers without a token and names nobody", async () => {
    await using at = await open();
    for (const path of ["", "/", "/?token=something"]) {
      expect(await send(`${at.relay.url}${path}`)).toMatchObject({ status: 200, json: { ok: true } });
    }
  });

  test("without metrics the route is not found", async () => {
    await using at = await open();
    expect(await send(`${at.relay.url}/metrics`)).toMatchObject({ status: 404, json: { error: "not_found" } });
  });

  test("it is told of answers without URL or token", async () => {
    const told: unknown[] = [];
    await using at = await open({ onAnswer: (answered) => told.push(answered) });
    await at.session.toSurface(call("1"), "a");
    const wrong = new TestSession(at.relay, at.session.id, "another-token-that-is-wrong");
    await wrong.pollOutbox({ client: "b" });
    (await at.session.openAgent("a")).close();
    expect(told).toMatchObject([
      { method: "POST", route: "register", status: 200 },
      { method: "POST", route: "sendToSurface", status: 200, session: at.session.id, client: "a" },
      { method: "GET", route: "pollOutbox", status: 401 },
      { method: "GET", route: "streamEvents", status: 200 },
    ]);
    expect(JSON.stringify(told)).not.toMatch(/token|outbox\?/);
  });

  test("it is told of no token that a query encoded twice has put into a name", async () => {
    const told: unknown[] = [];
    await using at = await open({ onAnswer: (answered) => told.push(answered) });
    const { url, id, token } = at.session;
    const refused = { status: 401 };
    expect(await post(`${url}/${id}${encodeURIComponent(`?token=${token}`)}/inbox`, call("1"))).toMatchObject(refused);
    expect(await post(`${url}/${id}/inbox?client=a%26token%3D${token}`, call("1"))).toMatchObject(refused);
    expect(told).toHaveLength(3);
    expect(JSON.stringify(told)).not.toContain(token);
  });
});

describe("a relay on its own server", () => {
  test("a body that does not arrive in time ends its connection, and nothing else", async () => {
    await using relay = await startRelay({ requestTimeoutMs: 200 });
    const session = new TestSession(relay);
    await session.register();
    const agent = await session.openAgent("a");
    const { hostname, port, pathname, search } = new URL(session.route("outbox"));
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{`);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    await new Promise((resolve) => socket.once("close", resolve));
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    await session.toAgents(note("still here"));
    expect(await agent.frame()).toEqual(note("still here"));
  });

  test.each([
    "GET / HTTP/1.1\r\nhost x\r\n\r\n",
    "\u0000\u0001\u0002\r\n\r\n",
    `GET /${"x".repeat(20_000)} HTTP/1.1\r\n\r\n`,
  ])("bytes that are no request are refused: case %#", async (bytes) => {
    await using relay = await startRelay();
    const { hostname, port } = new URL(relay.url);
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    await new Promise((resolve) => socket.once("close", resolve));
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(await send(`${relay.url}/`)).toMatchObject({ status: 200 });
  });

  test("requests that are pipelined are handled one after another", async () => {
    await using relay = await startRelay();
    const session = new TestSession(relay);
    await session.register();
    const socket = connect(Number(new URL(relay.url).port), "127.0.0.1");
    const poll = (client: string) => {
      const { pathname, search } = new URL(session.route("outbox", { client, wait: "20" }));
      return `GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\n\r\n`;
    };
    socket.write(["a", "b", "c"].map(poll).join(""));
    let answers = "";
    socket.on("data", (chunk) => {
      answers += chunk;
    });
    for (const count of [1, 2, 3]) {
      await vi.waitFor(() => expect(relay.broker.stats()).toMatchObject({ polls: 1, clients: count }));
      await session.toAgents(note(`news ${count}`));
      await vi.waitFor(() => expect(answers.match(/news \d/g)?.at(-1)).toBe(`news ${count}`));
    }
    socket.destroy();
  });

  test("an answer that nobody reads ends its connection", async () => {
    const bytes = 50_000_000; // more than sockets hold
    const answered = Promise.withResolvers<unknown>();
    await using relay = await startRelay({
      keepAliveMs: 200,
      maxWaitMs: 200,
      maxConnections: 1,
      queueBytes: bytes,
      onAnswer: answered.resolve,
    });
    const { broker } = relay;
    const caller = { session: "unread", token: "token-of-somebody-slow" };
    broker.register(caller.session, caller.token);
    broker.sendToSurface({ ...caller, client: "slow" }, JSON.stringify(note("hello")));
    const frame = JSON.stringify(note("x".repeat(250_000)));
    for (let sent = 0; sent < bytes; sent += frame.length) broker.sendToAgents(caller, frame);
    const { port, pathname } = new URL(relay.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(`GET ${pathname}/unread/outbox?token=${caller.token}&client=slow&wait=0 HTTP/1.1\r\nhost: x\r\n\r\n`);
    await answered.promise;
    // There is room for one connection.
    await vi.waitFor(async () => expect((await send(`${relay.url}/`)).status).toBe(200), { timeout: 10_000 });
    socket.destroy();
  }, 20_000);

  test("metrics are Prometheus text that names no session, client or token", async () => {
    await using relay = await startRelay();
    const session = new TestSession(relay, "secret-session");
    await session.register();
    await session.openAgent("secret-client");
    await session.toSurface(call("1"), "secret-client");
    await session.toSurface(call("1"), "secret-client");
    const { status, headers, text } = await send(`${relay.url}/metrics`);
    expect(status).toBe(200);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0.0.4/);
    expect(text).toContain("human_plus_relay_sessions 1\n");
    expect(text).toContain("human_plus_relay_streams 1\n");
    expect(text).toContain("human_plus_relay_in_flight 1\n");
    expect(text).toContain('human_plus_relay_refusals_total{code="request_id_in_flight"} 1\n');
    expect(text).toContain('human_plus_relay_answers_total{route="sendToSurface",status="200"} 1\n');
    expect(text).not.toMatch(/secret|token-of/);
  });

  test.each([
    ["maxSessions", { maxSessions: 0 }],
    ["ttlMs", { ttlMs: 1.5 }],
    ["queueBytes", { queueBytes: 10, maxFrameBytes: 20 }],
    ["origin", { cors: ["https://app.example/path"] }],
    ["path", { prefix: "/a?b" }],
  ])("options that are out of range are refused, and named: %s", async (name, options) => {
    await expect(startRelay(options)).rejects.toThrow(RangeError);
    await expect(startRelay(options)).rejects.toThrow(name);
  });
});
