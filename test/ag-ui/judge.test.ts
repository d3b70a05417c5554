import { describe, expect, test } from "vitest";
import { assertGood, judge, toSse } from "./judge.ts";
import { serve } from "./parts/serve.ts";

const started = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const finished = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const text = [
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hello" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];
const call = (args: string, end = true) => [
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "read" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: args },
  ...(end ? [{ type: "TOOL_CALL_END", toolCallId: "c" }] : []),
];
const result = { type: "TOOL_CALL_RESULT", messageId: "c:result", toolCallId: "c", content: "done", role: "tool" };
const activity = { messageId: "humanplus-a", activityType: "humanplus.surface" };
const run = (...events: object[]) => [started, ...events, finished];

describe("a good stream", () => {
  test("is taken by all clients without a word", async () => {
    const verdict = await assertGood({
      events: run(
        { type: "ACTIVITY_SNAPSHOT", ...activity, content: { n: 1 }, replace: true },
        { type: "STEP_STARTED", stepName: "one" },
        ...text,
        ...call('{"card":"budget"}'),
        result,
        { type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "replace", path: "/n", value: 2 }] },
        { type: "STEP_FINISHED", stepName: "one" },
        { type: "CUSTOM", name: "humanplus.x", value: null },
        { type: "STATE_SNAPSHOT", snapshot: { a: null } },
      ),
    });
    expect(verdict.clients.map(({ version, events }) => [version, events.length])).toEqual([
      ["0.0.57", 15],
      ["0.0.59", 15],
      ["1.0.0", 15],
    ]);
    expect(verdict.clients.map(({ messages }) => messages.map(({ role }) => role))).toEqual(
      Array.from({ length: 3 }, () => ["user", "activity", "assistant", "assistant", "tool"]),
    );
  });

  test("may end with an error, which clients show while they resolve", async () => {
    const { clients } = await assertGood({ events: [started, { type: "RUN_ERROR", message: "no", code: "x" }] });
    expect(clients.map(({ runError }) => runError)).toEqual(
      Array.from({ length: 3 }, () => ({ message: "no", code: "x" })),
    );
  });

  test("may come from a handler, which each client asks for itself", async () => {
    const asked: unknown[] = [];
    await assertGood({
      async handler(request) {
        asked.push(((await request.json()) as { protocolVersion?: string }).protocolVersion);
        return new Response(`: ping\n\n${toSse(run(...text))}`, { headers: { "content-type": "text/event-stream" } });
      },
    });
    expect(asked).toEqual([undefined, undefined, "1.0"]);
  });
});

const bad: ReadonlyArray<readonly [name: string, events: object[], reason: RegExp]> = [
  ["begins with something else", [...text, started, finished], /first event/i],
  ["begins twice", run(started, ...text), /had begun already/],
  ["goes on after RUN_FINISHED", [...run(), ...text], /something follows the terminal event/],
  ["ends twice", [...run(), { type: "RUN_ERROR", message: "late" }], /2 terminal events/],
  [
    "finishes after an error",
    [started, { type: "RUN_ERROR", message: "x" }, finished],
    /rejects.*errored|2 terminal events/,
  ],
  ["never ends", [started, ...text], /0 terminal events/],
  ["has content of a text that is not open", run(text[1] as object), /text message m is not open/],
  ["begins a text twice", run(text[0] as object, ...text), /text message m is open already/],
  ["finishes with an open text", run(...text.slice(0, 2)), /text message m is still open/],
  ["finishes with an open tool call", run(...call("{}", false)), /tool call c is still open/],
  ["finishes with an open step", run({ type: "STEP_STARTED", stepName: "one" }), /step one is still open/],
  [
    "finishes with open reasoning, which 0.0.57 accepts",
    run({ type: "REASONING_START", messageId: "x" }),
    /reasoning x is still open/,
  ],
  [
    "has reasoning that was never begun",
    run({ type: "REASONING_MESSAGE_CONTENT", messageId: "x", delta: "hm" }),
    /reasoning message x is not open/,
  ],
  ["names another thread", [{ ...started, threadId: "other" }, finished], /threadId should be t, is other/],
  ["names another run at the end", [started, { ...finished, runId: "r2" }], /runId should be r, is r2/],
  ["has arguments that are no JSON", run(...call('{"card":')), /arguments of c are no JSON object/],
  ["has arguments that are no object", run(...call('"budget"')), /arguments of c are no JSON object/],
  ["has no arguments at all", run(...call("").filter((_, index) => index !== 1)), /arguments of c are no JSON object/],
  ["makes a call twice", run(...call("{}"), ...call("{}")), /there was a tool call c already/],
  ["answers a call that nobody made", run(result), /there is no tool call c/],
  ["answers a call twice", run(...call("{}"), result, { ...result, messageId: "2" }), /answered already/],
  ["answers with parts", run(...call("{}"), { ...result, content: [{ type: "text", text: "x" }] }), /0\.0\.57 rejects/],
  ["has a fraction of a millisecond", run({ ...result, timestamp: 1.5 }), /timestamp is no whole number/],
  ["has null for something absent", [{ ...started, parentRunId: null }, finished], /parentRunId is null/],
  ["has null deep inside", run(...call("{}").map((e) => ({ ...e, metadata: { humanplus: null } }))), /is null/],
  ["has an event nobody knows", run({ type: "HUMANPLUS_NEWS" }), /0\.0\.57 rejects[\s\S]*not in the subset/],
  ["has an unknown member", [{ ...started, surface: "board" }, finished], /1\.0\.0 warns: .*surface/],
  [
    "lacks a delta",
    run(text[0] as object, { type: "TEXT_MESSAGE_CONTENT", messageId: "m" }, text[2] as object),
    /1\.0\.0 rejects/,
  ],
  ["is cancelled before old clients", [started, { ...finished, outcome: { type: "cancelled" } }], /0\.0\.57 rejects/],
  [
    "names pending calls before old clients",
    [started, { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } }],
    /0\.0\.57 rejects/,
  ],
  ["interrupts for nothing", [started, { ...finished, outcome: { type: "interrupt", interrupts: [] } }], /rejects/],
  [
    "has one id for two interrupts",
    [
      started,
      {
        ...finished,
        outcome: {
          type: "interrupt",
          interrupts: [
            { id: "i", reason: "x" },
            { id: "i", reason: "x" },
          ],
        },
      },
    ],
    /two interrupts have the same id/,
  ],
  ["has a custom event without a value", run({ type: "CUSTOM", name: "humanplus.x" }), /1\.0\.0 rejects/],
  ["has a custom event without a vendor", run({ type: "CUSTOM", name: "news", value: 1 }), /no prefix of its vendor/],
  [
    "patches state that is not there",
    run({ type: "STATE_DELTA", delta: [{ op: "replace", path: "/x", value: 1 }] }),
    /0\.0\.57 warns/,
  ],
  [
    "cannot be compacted",
    run({ type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 1 }] }),
    /cannot compact it/,
  ],
  [
    "patches an activity that is not there",
    run({ type: "ACTIVITY_DELTA", ...activity, patch: [{ op: "replace", path: "/n", value: 2 }] }),
    /no snapshot of humanplus-a/,
  ],
  [
    "gives an activity the id of a text",
    run(...text, { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "humanplus.surface", content: {} }),
    /m is a text message as well/,
  ],
  [
    "puts a custom event between chunks",
    run(
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", role: "assistant", delta: "Hel" },
      { type: "CUSTOM", name: "humanplus.x", value: 1 },
      { type: "TEXT_MESSAGE_CHUNK", delta: "lo" },
    ),
    /First TEXT_MESSAGE_CHUNK must have a messageId/,
  ],
];

describe("a stream is refused that", () => {
  test.each(bad)("%s", async (_, events, reason) => {
    const { reasons } = await judge({ events });
    expect(reasons.join("\n")).toMatch(reason);
  });
});

const good = toSse(run(...text));
const badBytes: ReadonlyArray<readonly [name: string, bytes: string, reason: RegExp]> = [
  ["ends lines with CRLF", good.replaceAll("\n", "\r\n"), /carriage returns/],
  ["ends with a sentinel", `${good}data: [DONE]\n\n`, /is no JSON: "\[DONE\]"/],
  ["ends in the middle of a frame", good.slice(0, -20), /middle of a frame/],
  [
    "is a line of JSON for each event",
    run()
      .map((event) => `${JSON.stringify(event)}\n`)
      .join(""),
    /middle of a frame/,
  ],
  ["has a frame that is no object", `${toSse([started])}data: 1\n\n${toSse([finished])}`, /is no event/],
  ["is empty", "", /0 terminal events/],
];

describe("a body is refused that", () => {
  test.each(badBytes)("%s", async (_, bytes, reason) => {
    const { reasons } = await judge({ bytes });
    expect(reasons.join("\n")).toMatch(reason);
  });

  test("is a page of HTML", async () => {
    const { reasons, clients } = await judge({ bytes: "<html>busy</html>", contentType: "text/html" });
    expect(clients.map(({ rejection }) => rejection)).toEqual([undefined, undefined, undefined]);
    expect(reasons.join("\n")).toMatch(/text\/html, not text\/event-stream/);
  });

  test("is an error of HTTP", async () => {
    const { reasons } = await judge({ bytes: '{"error":{}}', status: 500, contentType: "application/json" });
    expect(reasons.join("\n")).toMatch(/the answer is 500/);
  });

  test("is cut off by a broken connection", async () => {
    await using server = await serve((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(toSse([started]), () => response.destroy());
    });
    const { reasons } = await judge({ url: server.url });
    expect(reasons.join("\n")).toMatch(/the connection broke/);
  });
});
