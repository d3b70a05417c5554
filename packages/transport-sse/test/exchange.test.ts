import { methods, type Notification } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import {
  accept,
  type FrameArrival,
  frameEvent,
  linkTo,
  openTransport,
  replyEvent,
  request,
  startRawRelay,
  TOKEN,
} from "./raw-relay.ts";

const LONG = { timeoutMs: 20_000 };

describe("an exchange", () => {
  test("gives the response with the id of its request", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    const asked = request({ n: 1 });
    expect(await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).toEqual({
      jsonrpc: "2.0",
      id: asked.id,
      result: { echo: { n: 1 } },
    });
  });

  test("gives an error response as it came", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(
          arrival.client,
          frameEvent({ jsonrpc: "2.0", id: arrival.frame.id, error: { code: 7, message: "no" } }),
        );
      },
    });
    await using transport = openTransport();
    const answer = await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
    expect(answer.error).toEqual({ code: 7, message: "no" });
  });

  test("opens the leg before it posts, and names itself alike on both", async () => {
    const order: string[] = [];
    await using relay = await startRawRelay({
      onEvents({ response }) {
        order.push("events");
        setImmediate(() => {
          order.push("opened");
          response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).write(": hello\n\n");
        });
      },
      onFrame(arrival, raw) {
        order.push("frame");
        accept(arrival);
        raw.write(arrival.client, replyEvent(arrival.frame));
      },
    });
    await using transport = openTransport();
    await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
    expect(order).toEqual(["events", "opened", "frame"]);
    const [stream] = relay.streams;
    const [posted] = relay.frames;
    expect(stream?.url.searchParams.get("direction")).toBe("outbound");
    expect(stream?.url.searchParams.get("token")).toBe(TOKEN);
    expect(stream?.client).toMatch(/^agent-1\.[0-9a-f]{16}\.[0-9a-z]+$/);
    expect(posted?.client).toBe(stream?.client);
    expect(stream?.headers).toMatchObject({ accept: "text/event-stream", "accept-encoding": "identity" });
    expect(posted?.headers).toMatchObject({ "content-type": "application/json", "accept-encoding": "identity" });
    expect(posted?.headers).not.toHaveProperty("referer");
    expect(posted?.headers).not.toHaveProperty("authorization");
  });

  test("posts at once with send-first", async () => {
    let kept: FrameArrival | undefined;
    await using relay = await startRawRelay({
      // A worker that cannot answer the stream before it has taken the frame.
      onEvents(arrival, raw) {
        void raw
          .until(() => raw.frames.length > 0)
          .then(() => {
            arrival.response.writeHead(200, { "content-type": "text/event-stream" });
            arrival.response.write(replyEvent((kept as FrameArrival).frame));
          });
      },
      onFrame(arrival) {
        kept = arrival;
        accept(arrival);
      },
    });
    await using transport = openTransport({ order: "send-first" });
    const asked = request({ n: 2 });
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).id).toBe(asked.id);
  });

  test("puts the token into the header alone where it is told to", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport({ authentication: "bearer" });
    await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
    for (const { url, headers } of [...relay.streams, ...relay.frames]) {
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
      expect(url.search).not.toContain(TOKEN);
    }
  });

  test("shares one leg with all that run at the same time, and each gets its own reply, whatever the order", async () => {
    const held: FrameArrival[] = [];
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        held.push(arrival);
        if (held.length < 50) return;
        for (const { client, frame } of held.reverse()) raw.write(client, replyEvent(frame));
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const asked = Array.from({ length: 50 }, (_, n) => request({ n }));
    const answers = await Promise.all(asked.map((one) => transport.exchange(link, one, LONG)));
    expect(answers.map(({ id, result }) => [id, result])).toEqual(asked.map(({ id }, n) => [id, { echo: { n } }]));
    expect(relay.streams).toHaveLength(1);
  });

  test("takes the first of two replies, and drops replies that nobody asked for", async () => {
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        const { id } = arrival.frame;
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id: "of-somebody-else", result: { n: 0 } }));
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "?" } }));
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id, result: { n: 1 } }));
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id, result: { n: 2 } }));
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    expect((await transport.exchange(link, request(), LONG)).result).toEqual({ n: 1 });
    expect((await transport.exchange(link, request(), LONG)).result).toEqual({ n: 1 });
  });

  test("refuses an id that another exchange waits for", async () => {
    await using relay = await startRawRelay({ onFrame: accept });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const asked = request();
    const first = transport.exchange(link, asked, LONG).catch(({ code }) => code);
    await expect(transport.exchange(link, asked, LONG)).rejects.toMatchObject({
      code: "invalid_argument",
      outcome: "not_applied",
    });
    await transport.close();
    expect(await first).toBe("closed");
  });

  test("keeps a stream out of the way of its posts", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    const links = ["a", "b", "c"].map((id) => linkTo(relay.baseUrl, id));
    await Promise.all(links.map((link) => transport.exchange(link, request(), LONG)));
    await Promise.all(links.map((link) => transport.exchange(link, request(), LONG)));
    const ofStreams = new Set(relay.streams.map(({ socket }) => socket));
    expect(ofStreams.size).toBe(3);
    expect(relay.frames.some(({ socket }) => ofStreams.has(socket))).toBe(false);
  });
});

describe("notifications", () => {
  test("reach every listener with the link of the caller, also when one of them throws", async () => {
    const acted: Notification = { jsonrpc: "2.0", method: methods.agentActivity, params: { source: "user" } };
    await using relay = await startRawRelay({
      onFrame(arrival, raw) {
        accept(arrival);
        raw.write(arrival.client, frameEvent({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage" }));
        raw.write(arrival.client, frameEvent(acted));
        raw.write(arrival.client, replyEvent(arrival.frame));
      },
    });
    await using transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const heard: unknown[] = [];
    transport.onNotification(() => {
      throw new Error("a listener's own trouble");
    });
    const stop = transport.onNotification((of, notification) => heard.push([of, notification.method]));
    await transport.exchange(link, request(), LONG);
    stop();
    await transport.exchange(link, request(), LONG);
    expect(heard).toEqual([[link, acted.method]]);
  });

  test("are posted without a leg, and resolve once the relay has them", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport();
    await transport.notify(linkTo(relay.baseUrl), { jsonrpc: "2.0", method: methods.initialized }, LONG);
    expect(relay.frames.map(({ frame }) => frame.method)).toEqual([methods.initialized]);
    expect(relay.streams).toHaveLength(0);
  });
});
