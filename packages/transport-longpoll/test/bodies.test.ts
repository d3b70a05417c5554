import { limits, methods } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import {
  accept,
  answerAtOnce,
  answerJson,
  LONG,
  linkTo,
  openTransport,
  type PollArrival,
  type PollEndpoint,
  replyTo,
  request,
  startPollEndpoint,
} from "./poll-endpoint.ts";

type Write = (frames: unknown[]) => unknown;

/** Answers each poll that has something to tell with what a test makes of it. */
const answering =
  (write: Write) =>
  ({ response }: PollArrival, { queue }: PollEndpoint): void => {
    if (queue.length === 0) response.writeHead(204).end();
    else answerJson(response, write(queue.splice(0)));
  };

const text = (frames: unknown[]) => frames.map((frame) => JSON.stringify(frame));

describe.each([
  ["one frame", "outbox", ([frame]) => frame],
  ["a list of frames", "outbox", (frames) => frames],
  ["a list of JSON texts", "outbox", text],
  ["frames with a cursor", "outbox", (frames) => ({ frames, cursor: "7" })],
  ["events with a number next", "outbox", (frames) => ({ events: frames, next: 7 })],
  ["messages with last_event_id", "outbox", (frames) => ({ messages: text(frames), last_event_id: "7" })],
  ["JSON texts with a subscriber", "poll", (frames) => ({ subscriber: "0123456789abcdef", frames: text(frames) })],
  ["JSON texts without a subscriber", "poll", (frames) => ({ frames: text(frames) })],
] satisfies readonly (readonly [string, "outbox" | "poll", Write])[])("%s, dialect %s", (_, dialect, write) => {
  test("carries a reply", async () => {
    await using endpoint = await startPollEndpoint({ onPoll: answering(write as Write) });
    await using transport = openTransport({ dialect });
    const asked = request({ n: 1 });
    expect((await transport.exchange(linkTo(endpoint.baseUrl), asked, LONG)).result).toEqual({ echo: { n: 1 } });
  });
});

describe("an empty poll", () => {
  test.each([
    ["204", ({ response }) => void response.writeHead(204).end()],
    ["an empty body", ({ response }) => void response.writeHead(200).end()],
    ["an empty list", ({ response }) => answerJson(response, [])],
    ["no frames", ({ response }) => answerJson(response, { frames: [] })],
  ] satisfies readonly (readonly [string, (arrival: PollArrival) => void])[])("may be %s", async (_, empty) => {
    await using endpoint = await startPollEndpoint({
      onPoll: (arrival, at) => (at.queue.length === 0 ? empty(arrival) : answerAtOnce(arrival, at)),
    });
    await using transport = openTransport({ dialect: "outbox" });
    const asked = request();
    expect((await transport.exchange(linkTo(endpoint.baseUrl), asked, LONG)).id).toBe(asked.id);
  });
});

describe("what to continue with", () => {
  test("is the cursor of dialect outbox, also after the leg has been closed", async () => {
    let cursor = 4;
    await using endpoint = await startPollEndpoint({
      onPoll({ response }, { queue }) {
        if (queue.length > 0) cursor++;
        answerJson(response, { frames: queue.splice(0), next: cursor });
      },
    });
    await using transport = openTransport({ idleLegMs: 20 });
    let gaps = 0;
    transport.onGap(() => gaps++);
    const link = linkTo(endpoint.baseUrl);
    await transport.exchange(link, request(), LONG);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await transport.exchange(link, request(), LONG);
    const afters = endpoint.polls.map(({ url }) => url.searchParams.get("after"));
    expect(afters.slice(0, 2)).toEqual([null, "4"]);
    const opened = endpoint.polls.findLastIndex(({ url }) => url.searchParams.get("wait") === "0");
    expect(opened).toBeGreaterThan(1);
    expect(afters[opened]).toBe("5");
    expect(gaps).toBe(0);
  });

  test("is the subscriber of dialect poll, and another one than was sent says that frames may be lost", async () => {
    let subscriber = "0000000000000001";
    await using endpoint = await startPollEndpoint({
      onPoll: ({ response }, { queue }) => answerJson(response, { subscriber, frames: text(queue.splice(0)) }),
      onFrame(frame, response, at) {
        subscriber = "0000000000000002";
        accept(response);
        at.give(replyTo(frame));
      },
    });
    await using transport = openTransport({ dialect: "poll" });
    const link = linkTo(endpoint.baseUrl);
    const told: unknown[] = [];
    transport.onGap((of) => told.push(of));
    await transport.exchange(link, request(), LONG);
    expect(told).toEqual([link]);
    const sent = endpoint.polls.map(({ url }) => url.searchParams.get("subscriber"));
    expect(sent.slice(0, 2)).toEqual([null, "0000000000000001"]);
    await endpoint.until(() => endpoint.polls.at(-1)?.url.searchParams.get("subscriber") === "0000000000000002");
  });

  test("is told as lost where the relay says so", async () => {
    await using endpoint = await startPollEndpoint({
      onPoll: answering((frames) => ({ frames, cursor: "9", gap: true })),
    });
    await using transport = openTransport();
    let gaps = 0;
    transport.onGap(() => gaps++);
    await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
    expect(gaps).toBe(1);
  });
});

describe("what is no frame", () => {
  const broken: readonly (readonly [string, "outbox" | "poll", (id: string) => unknown])[] = [
    ["a result that is no object", "outbox", (id) => [{ jsonrpc: "2.0", id, result: 7 }]],
    ["the same as JSON text", "poll", (id) => ({ frames: [`{"jsonrpc":"2.0","id":"${id}","result":7}`] })],
    [
      "a truncated frame as JSON text",
      "poll",
      (id) => ({ frames: [`{"jsonrpc":"2.0","id":"${id}","result":{"a":[1`] }),
    ],
    ["a truncated body", "outbox", (id) => `[{"jsonrpc":"2.0","id":"${id}","result":{"a":[1`],
    ["an oversized frame", "outbox", (id) => [{ jsonrpc: "2.0", id, result: { a: "x".repeat(limits.frameBytes) } }]],
    [
      "an oversized JSON text",
      "poll",
      (id) => ({ frames: [JSON.stringify({ jsonrpc: "2.0", id, result: { a: "x".repeat(limits.frameBytes) } })] }),
    ],
  ];
  test.each(broken)("%s in dialect %s fails the exchange it names at once, and no other", async (_, dialect, write) => {
    await using endpoint = await startPollEndpoint({
      onPoll({ response }, { queue }) {
        if (queue.length === 0) response.writeHead(204).end();
        else answerJson(response, queue.shift());
      },
      onFrame(frame, response, at) {
        accept(response);
        const isFirst = at.frames.length === 1;
        const good = dialect === "poll" ? { frames: text([replyTo(frame)]) } : [replyTo(frame)];
        at.give(isFirst ? write(String(frame.id)) : good);
      },
    });
    await using transport = openTransport({ dialect });
    const link = linkTo(endpoint.baseUrl);
    const error = await transport.exchange(link, request(), LONG).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_protocol_error", outcome: "unknown" });
    const asked = request();
    expect((await transport.exchange(link, asked, LONG)).id).toBe(asked.id);
  });

  test("leaves its neighbours as they are", async () => {
    await using endpoint = await startPollEndpoint({
      onPoll: answering((frames) => [7, "no JSON", { method: 1 }, ...frames, null]),
    });
    await using transport = openTransport();
    const asked = request();
    expect((await transport.exchange(linkTo(endpoint.baseUrl), asked, LONG)).id).toBe(asked.id);
  });
});

test("a body with all a relay keeps for a client is read, frame by frame", async () => {
  await using endpoint = await startPollEndpoint({
    onPoll: answering((frames) => ({ subscriber: "0123456789abcdef", frames: text(frames) })),
    onFrame(frame, response, at) {
      accept(response);
      const notification = {
        jsonrpc: "2.0",
        method: methods.logMessage,
        params: { data: '"'.repeat(limits.frameBytes / 4) },
      };
      at.queue.push(notification, notification, notification, notification);
      at.give(replyTo(frame));
    },
  });
  await using transport = openTransport({ dialect: "poll" });
  let heard = 0;
  transport.onNotification(() => heard++);
  await transport.exchange(linkTo(endpoint.baseUrl), request(), LONG);
  expect(heard).toBe(4);
});
