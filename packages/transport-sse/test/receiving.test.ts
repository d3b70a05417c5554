import type { HumanPlusError } from "@human-plus/core";
import { limits, methods, type Notification } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import {
  type Arrival,
  accept,
  type FrameArrival,
  frameEvent,
  linkTo,
  openStream,
  openTransport,
  refuse,
  replyEvent,
  request,
  startRawRelay,
} from "./raw-relay.ts";

const LONG = { timeoutMs: 20_000 };

describe("a leg that drops while a reply is awaited", () => {
  test("opens again with the cursor, and the reply is the one of the first request", async () => {
    await using relay = await startRawRelay({
      onEvents(arrival, raw) {
        openStream(arrival);
        if (raw.streams.length > 1) arrival.response.write(replyEvent((raw.frames[0] as FrameArrival).frame, "18"));
      },
      onFrame(arrival, raw) {
        accept(arrival);
        const note = { jsonrpc: "2.0", method: methods.toolsListChanged };
        raw.write(arrival.client, frameEvent(note, "17"));
        void raw.until(() => arrival.response.writableFinished).then(() => raw.streams[0]?.response.end());
      },
    });
    await using transport = openTransport();
    const asked = request({ n: 1 });
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).id).toBe(asked.id);
    expect(relay.frames).toHaveLength(1);
    expect(relay.streams.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "17"]);
  });

  test("tries again after refusals that may pass", async () => {
    await using relay = await startRawRelay({
      onEvents(arrival, raw) {
        switch (raw.streams.length) {
          case 2:
            return refuse(arrival, 503, "");
          case 3:
            return void arrival.socket.destroy();
          case 4:
            return refuse(arrival, 500, "");
          default:
            openStream(arrival);
            if (raw.streams.length > 1) arrival.response.write(replyEvent((raw.frames[0] as FrameArrival).frame));
        }
      },
      onFrame(arrival, raw) {
        accept(arrival);
        raw.streams[0]?.socket.destroy();
      },
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).id).toBe(asked.id);
    expect(relay.streams).toHaveLength(5);
  });

  test.each([
    [401, '{"error":"invalid_token"}', "attachment_unauthorized"],
    [410, '{"error":"session_gone"}', "surface_unavailable"],
    [404, "", "relay_protocol_error"],
  ])("and is then refused with %i fails what waits, with its outcome unknown", async (status, body, code) => {
    await using relay = await startRawRelay({
      onEvents: (arrival, raw) => (raw.streams.length === 1 ? openStream(arrival) : refuse(arrival, status, body)),
      onFrame(arrival, raw) {
        accept(arrival);
        if (raw.frames.length === 3) raw.streams[0]?.response.end();
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const errors = await Promise.all(
      [1, 2, 3].map((n) => transport.exchange(link, request({ n }), LONG).catch((e) => e)),
    );
    for (const error of errors) expect(error).toMatchObject({ code, outcome: "unknown", retryable: false });
    expect(new Set(errors).size).toBe(3);
    expect(relay.streams).toHaveLength(2);
  });

  test("because the relay says the session ended fails what waits", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, "event: error\ndata: session_gone\n\n");
      },
    });
    await using transport = openTransport();
    await expect(transport.exchange(linkTo(relay.baseUrl), request(), LONG)).rejects.toMatchObject({
      code: "surface_unavailable",
      outcome: "unknown",
    });
  });

  test("and stays away ends what waits at its deadline", async () => {
    await using relay = await startRawRelay({
      onEvents: (arrival, raw) => (raw.streams.length === 1 ? openStream(arrival) : refuse(arrival, 502, "")),
      onFrame(arrival, raw) {
        accept(arrival);
        raw.streams[0]?.response.end();
      },
    });
    await using transport = openTransport();
    const error = await transport.exchange(linkTo(relay.baseUrl), request(), { timeoutMs: 700 }).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_timeout", outcome: "unknown", retryable: false });
    expect(error.message).toContain("receiving leg is down");
  });
});

describe("gaps", () => {
  test("are told, once where the relay says so", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, "id: 4\nevent: gap\ndata: {}\n\n");
        raw.write(arrival.client, replyEvent(arrival.frame));
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const told: unknown[] = [];
    transport.onGap((of) => told.push(of));
    await transport.exchange(link, request(), LONG);
    expect(told).toEqual([link]);
  });

  test("are told where a leg opens again and has no cursor to resume with", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    let told = 0;
    transport.onGap(() => told++);
    transport.hold(link);
    await transport.exchange(link, request(), LONG);
    expect(told).toBe(0);
    relay.streams[0]?.response.end();
    await relay.until(() => relay.streams.length === 2);
    await transport.exchange(link, request(), LONG);
    expect(told).toBe(1);
  });
});

describe("what is no frame", () => {
  async function answerWith(write: (arrival: FrameArrival) => string | Uint8Array): Promise<HumanPlusError> {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, write(arrival));
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const failure = await transport.exchange(link, request(), LONG).catch((error) => error);
    return failure;
  }

  const data = (text: string) => `event: mcp\ndata: ${text}\n\n`;

  test.each([
    ["a result that is no object", (id: string) => data(`{"jsonrpc":"2.0","id":"${id}","result":7}`), "/result"],
    ["another version", (id: string) => data(`{"jsonrpc":"3.0","id":"${id}","result":{}}`), "/jsonrpc"],
    ["a truncated frame", (id: string) => data(`{"jsonrpc":"2.0","id":"${id}","result":{"a":[1,2`), ""],
    [
      "an oversized frame",
      (id: string) => data(`{"jsonrpc":"2.0","id":"${id}","result":{"a":"${"x".repeat(limits.frameBytes)}"}}`),
      "",
    ],
    [
      "a huge frame",
      (id: string) => data(`{"jsonrpc":"2.0","id":"${id}","result":{"a":"${"x".repeat(4 * limits.frameBytes)}"}}`),
      "",
    ],
    [
      "invalid UTF-8",
      (id: string) =>
        Buffer.concat([
          Buffer.from(`event: mcp\ndata: {"jsonrpc":"2.0","id":"${id}","result":{"a":"`),
          Buffer.from([0xc3, 0x28]),
          Buffer.from('"}}\n\n'),
        ]),
      "",
    ],
  ])("%s fails the exchange it names at once, and says where", async (_, write, pointer) => {
    const error = await answerWith(({ frame }) => write(String(frame.id)));
    expect(error).toMatchObject({ code: "relay_protocol_error", outcome: "unknown" });
    expect(error.issues.map((issue) => issue.pointer)).toContain(pointer);
    if (pointer !== "") expect(error.message).toContain(pointer);
  });

  test("hurts nobody else", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 10, 10]));
        raw.write(arrival.client, data("not JSON"));
        raw.write(arrival.client, data("[]"));
        raw.write(arrival.client, data("x".repeat(3 * limits.frameBytes)));
        raw.write(arrival.client, "event: other\ndata: {}\n\n: note\n\n");
        raw.write(arrival.client, replyEvent(arrival.frame));
      },
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).id).toBe(asked.id);
    expect(relay.streams).toHaveLength(1);
  });

  test("that names no request is told of when its answer does not come", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, data("not JSON"));
        raw.write(arrival.client, data("[]"));
      },
    });
    await using transport = openTransport();
    const exchange = transport.exchange(linkTo(relay.baseUrl), request(), { timeoutMs: 500 });
    await expect(exchange).rejects.toMatchObject({
      code: "relay_timeout",
      message: expect.stringContaining("2 message(s)"),
    });
  });

  test("a frame of exactly the limit is one", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        const empty = JSON.stringify({ jsonrpc: "2.0", id: arrival.frame.id, result: { a: "" } });
        const a = "x".repeat(limits.frameBytes - empty.length);
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id: arrival.frame.id, result: { a } }));
      },
    });
    await using transport = openTransport();
    await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
  });
});

describe("giving up", () => {
  const cancelled = (relay: { frames: FrameArrival[] }) =>
    relay.frames.map(({ frame }) => frame).filter(({ method }) => method === methods.cancelled) as Notification[];

  test("at the deadline leaves the outcome unknown, and tells the surface which request it was", async () => {
    await using relay = await startRawRelay({ onFrame: accept });
    await using transport = openTransport();
    const asked = request();
    const error = await transport.exchange(linkTo(relay.baseUrl), asked, { timeoutMs: 200 }).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_timeout", outcome: "unknown", retryable: false });
    await relay.until(() => cancelled(relay).length === 1);
    expect(cancelled(relay)[0]?.params?.["requestId"]).toBe(asked.id);
    expect(relay.frames.filter(({ frame }) => frame.method === asked.method)).toHaveLength(1);
  });

  test("on a signal does the same, and a late reply goes to nobody", async () => {
    await using relay = await startRawRelay({ onFrame: accept });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const stop = new AbortController();
    const asked = request();
    const failure = transport.exchange(link, asked, { ...LONG, signal: stop.signal }).catch((e) => e);
    await relay.until(() => relay.frames.some(({ response }) => response.writableFinished));
    stop.abort();
    expect(await failure).toMatchObject({ code: "aborted", outcome: "unknown", retryable: false });
    await relay.until(() => cancelled(relay).length === 1);
    relay.write((relay.streams[0] as Arrival).client, replyEvent(asked));
    const next = transport.exchange(link, request(), LONG);
    await relay.until(() => relay.frames.length === 3);
    const last = relay.frames[2] as FrameArrival;
    relay.write(last.client, replyEvent(last.frame));
    expect((await next).id).toBe(last.frame.id);
  });

  test.each(["before it starts", "while the leg opens"])("%s sends nothing at all", async (when) => {
    await using relay = await startRawRelay({ onEvents: () => {} });
    await using transport = openTransport();
    const stop = new AbortController();
    if (when === "before it starts") stop.abort();
    const failure = transport
      .exchange(linkTo(relay.baseUrl), request(), { ...LONG, signal: stop.signal })
      .catch((e) => e);
    if (when !== "before it starts") await relay.until(() => relay.streams.length === 1);
    stop.abort();
    expect(await failure).toMatchObject({ code: "aborted", outcome: "not_applied" });
    await transport.close();
    await relay.until(() => relay.sockets.size === 0);
    expect(relay.frames).toHaveLength(0);
  });

  test("while the answer to the POST hangs leaves the outcome unknown", async () => {
    await using relay = await startRawRelay({ onFrame: () => {} });
    await using transport = openTransport();
    const error = await transport.exchange(linkTo(relay.baseUrl), request(), { timeoutMs: 300 }).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_timeout", outcome: "unknown" });
  });

  test("is not needed where the reply comes and the answer to the POST never does", async () => {
    await using relay = await startRawRelay({
      onFrame: ({ client, frame }, raw) => raw.write(client, replyEvent(frame)),
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, { timeoutMs: 400 })).id).toBe(asked.id);
    await relay.until(() => !relay.sockets.has((relay.frames[0] as FrameArrival).socket));
  });

  test("a notification that hangs ends in time", async () => {
    await using relay = await startRawRelay({ onFrame: () => {} });
    await using transport = openTransport();
    const note: Notification = { jsonrpc: "2.0", method: methods.initialized };
    await expect(transport.notify(linkTo(relay.baseUrl), note, { timeoutMs: 200 })).rejects.toMatchObject({
      code: "relay_timeout",
      outcome: "unknown",
    });
  });
});
