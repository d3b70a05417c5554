import { createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { HumanPlusError } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import {
  accept,
  linkTo,
  openStream,
  openTransport,
  type RawRelayOptions,
  refuse,
  replyEvent,
  request,
  startRawRelay,
} from "./raw-relay.ts";

const LONG = { timeoutMs: 20_000 };

async function failureOf(options: RawRelayOptions, exchange = LONG): Promise<{ error: HumanPlusError; posts: number }> {
  await using relay = await startRawRelay(options);
  await using transport = openTransport();
  const error = await transport.exchange(linkTo(relay.baseUrl), request(), exchange).then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown as HumanPlusError,
  );
  return { error, posts: relay.frames.length };
}

type Row = readonly [status: number, body: string, code: string, retryable: boolean];

const refusals: readonly Row[] = [
  [401, '{"error":"invalid_token"}', "attachment_unauthorized", false],
  [401, "event: error\ndata: invalid_token\n\n", "attachment_unauthorized", false],
  [401, '{"error":"invalid_token_or_frame"}', "attachment_unauthorized", false],
  [410, '{"error":"session_gone"}', "surface_unavailable", false],
  [410, "event: error\ndata: session_gone\n\n", "surface_unavailable", false],
  [410, "", "surface_unavailable", false],
  [404, '{"error":"session_gone"}', "surface_unavailable", false],
  [404, "<html>no</html>", "relay_protocol_error", false],
  [405, '{"error":"method_not_allowed"}', "relay_protocol_error", false],
  [429, '{"error":"too_many_clients"}', "relay_busy", true],
  [503, "", "relay_busy", true],
];

describe("a leg that is refused", () => {
  test.each(refusals)("with %i %s fails the exchange at once as %s, and nothing is posted", async (...row) => {
    const [status, body, code, retryable] = row;
    const { error, posts } = await failureOf({ onEvents: (arrival) => refuse(arrival, status, body) });
    expect(error).toMatchObject({ name: "HumanPlusError", code, outcome: "not_applied", retryable });
    expect(posts).toBe(0);
  });

  test.each([
    ["500", (arrival) => refuse(arrival, 500, '{"error":"internal_error"}'), "relay_failed", true],
    ["a redirect", (a) => refuse(a, 302, "", { location: "http://127.0.0.1:1/" }), "relay_protocol_error", false],
    ["another content type", (a) => refuse(a, 200, "{}"), "relay_protocol_error", false],
    ["204", (a) => void a.response.writeHead(204).end(), "relay_protocol_error", false],
    [
      "a compressed stream",
      ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
        response.write(gzipSync("retry: 2000\n\n"));
      },
      "relay_protocol_error",
      false,
    ],
    ["a reset connection", ({ socket }) => void socket.destroy(), "relay_failed", true],
  ] satisfies readonly (readonly [string, NonNullable<RawRelayOptions["onEvents"]>, string, boolean])[])(
    "by %s fails the exchange, and nothing is posted",
    async (_, onEvents, code, retryable) => {
      const { error, posts } = await failureOf({ onEvents });
      expect(error).toMatchObject({ code, outcome: "not_applied", retryable });
      expect(posts).toBe(0);
    },
  );

  test("passes on how long to wait", async () => {
    const onEvents: RawRelayOptions["onEvents"] = (arrival) => refuse(arrival, 503, "", { "retry-after": "7" });
    expect((await failureOf({ onEvents })).error.retryAfterMs).toBe(7_000);
  });

  test("by a machine that does not listen is unreachable", async () => {
    await using transport = openTransport();
    await expect(transport.exchange(linkTo("http://127.0.0.1:1/relay"), request(), LONG)).rejects.toMatchObject({
      code: "relay_unreachable",
      outcome: "not_applied",
      retryable: true,
    });
  });

  test("whose answer never begins is told from a relay that is away", async () => {
    const { error, posts } = await failureOf({ onEvents: () => {} }, { timeoutMs: 300 });
    expect(error).toMatchObject({ code: "stream_buffered", outcome: "not_applied" });
    expect(error.message).toContain("transport-longpoll");
    expect(posts).toBe(0);
  });

  test("that opens without a byte names what buffers it", async () => {
    const { error } = await failureOf(
      {
        onEvents({ response }) {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.flushHeaders();
        },
        onFrame: accept,
      },
      { timeoutMs: 300 },
    );
    expect(error).toMatchObject({ code: "stream_buffered", outcome: "unknown" });
    expect(error.message).toContain("transport-longpoll");
  });
});

describe("a frame that is refused", () => {
  const rows: readonly Row[] = [
    ...refusals,
    [409, '{"error":"stale"}', "surface_changed_under_you", false],
    [400, '{"error":"invalid_json"}', "relay_protocol_error", false],
    [413, '{"error":"payload_too_large"}', "frame_too_large", false],
    [429, '{"error":"too_many_in_flight"}', "relay_busy", true],
    [503, '{"error":"surface_absent"}', "surface_absent", true],
  ];
  test.each(rows)("with %i %s fails the exchange at once as %s", async (status, body, code, retryable) => {
    const { error, posts } = await failureOf({ onFrame: (arrival) => refuse(arrival, status, body) });
    expect(error).toMatchObject({ code, outcome: "not_applied", retryable });
    expect(posts).toBe(1);
  });

  test.each([
    ["500", (arrival) => refuse(arrival, 500, '{"error":"internal_error"}'), "relay_failed"],
    ["a gateway that gave up", (arrival) => refuse(arrival, 502, "<html>"), "relay_failed"],
    ["a redirect", (a) => refuse(a, 307, "", { location: "http://127.0.0.1:1/" }), "relay_protocol_error"],
    ["an answer too large to be one", (a) => refuse(a, 200, "x".repeat(70_000)), "relay_protocol_error"],
    [
      "a compressed answer",
      ({ response }) => response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync('{"ok":true}')),
      "relay_protocol_error",
    ],
    [
      "headers too large to be any",
      (a) => refuse(a, 200, "", { "x-much": "x".repeat(40_000) }),
      "relay_protocol_error",
    ],
  ] satisfies readonly (readonly [string, NonNullable<RawRelayOptions["onFrame"]>, string])[])(
    "by %s leaves the outcome unknown",
    async (_, onFrame, code) => {
      const { error, posts } = await failureOf({ onFrame });
      expect(error).toMatchObject({ code, outcome: "unknown", retryable: false });
      expect(posts).toBe(1);
    },
  );

  test("is never posted again when its answer is lost, and fails after the grace", async () => {
    const { error, posts } = await failureOf({ onFrame: ({ socket }) => socket.destroy() });
    expect(error).toMatchObject({ code: "relay_failed", outcome: "unknown", retryable: false });
    expect(posts).toBe(1);
  });

  test("is answered all the same when its answer is lost and the reply comes", async () => {
    await using relay = await startRawRelay({
      onFrame({ socket, client, frame }, raw) {
        socket.destroy();
        void raw.until(() => !raw.sockets.has(socket)).then(() => raw.write(client, replyEvent(frame)));
      },
    });
    await using transport = openTransport();
    const asked = request({ n: 3 });
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).result).toEqual({ echo: { n: 3 } });
    expect(relay.frames).toHaveLength(1);
  });

  test("that is too large does not leave", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    const asked = request({ text: "\u20ac".repeat(90_000) });
    await expect(transport.exchange(linkTo(relay.baseUrl), asked, LONG)).rejects.toMatchObject({
      code: "frame_too_large",
      outcome: "not_applied",
    });
    expect(relay.frames).toHaveLength(0);
  });

  test("that cannot be written as JSON does not leave", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    await expect(transport.exchange(linkTo(relay.baseUrl), request({ n: 1n }), LONG)).rejects.toMatchObject({
      code: "invalid_argument",
      outcome: "not_applied",
    });
    expect(relay.frames).toHaveLength(0);
  });
});

describe("something that does not speak HTTP", () => {
  test.each([
    ["garbage", Buffer.from("SSH-2.0-OpenSSH_9.2\r\n")],
    ["a truncated head", Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/ev")],
  ])("fails the exchange with %s, and nothing is posted", async (_, bytes) => {
    const received: string[] = [];
    const server = createTcpServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        received.push(chunk.toString("latin1"));
        socket.end(bytes);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      await using transport = openTransport();
      const failure = transport.exchange(linkTo(`http://127.0.0.1:${port}`), request(), LONG);
      await expect(failure).rejects.toMatchObject({ name: "HumanPlusError", outcome: "not_applied" });
      expect(received.filter((text) => text.startsWith("POST"))).toEqual([]);
    } finally {
      server.close();
    }
  });
});

test("a session that is gone can be left", async () => {
  await using relay = await startRawRelay({
    onUnregister: (arrival) => refuse(arrival, 410, '{"error":"session_gone"}'),
  });
  await using transport = openTransport();
  await transport.detach(linkTo(relay.baseUrl), LONG);
  expect(relay.unregistered).toHaveLength(1);
});

test("leaving names the client that had the leg, and closes it", async () => {
  await using relay = await startRawRelay({ onEvents: openStream });
  await using transport = openTransport();
  const link = linkTo(relay.baseUrl);
  await transport.exchange(link, request(), LONG);
  await transport.detach(link, LONG);
  expect(relay.unregistered.map(({ client }) => client)).toEqual(relay.streams.map(({ client }) => client));
  await relay.until(() => !relay.sockets.has((relay.streams[0] as { socket: Socket }).socket));
});

test("leaving sends nothing where it is told to", async () => {
  await using relay = await startRawRelay();
  await using transport = openTransport({ detach: "leave" });
  await transport.detach(linkTo(relay.baseUrl), LONG);
  expect(relay.connections()).toBe(0);
});
