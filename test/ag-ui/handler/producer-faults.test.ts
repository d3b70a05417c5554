import { type AgUiProblem, createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood, type JudgeOptions, judge } from "../judge.ts";

type Run = readonly unknown[] | (() => AsyncIterable<unknown>);

/** A handler whose run says this, whatever it is asked. */
function handlerOf(run: Run, options: { readonly problems?: AgUiProblem[]; readonly tools?: boolean } = {}) {
  return createAgUiHandler<object, unknown>({
    authorize: () => ({}),
    input: {
      project: ({ input }) => input,
      ...(options.tools === true ? { frontendTools: ({ input }) => input.tools.map(({ name }) => name) } : {}),
    },
    run: () => (typeof run === "function" ? run() : from(run)),
    onProblem: (problem) => options.problems?.push(problem),
  });
}

async function* from(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events;
}

const ids = { threadId: "t", runId: "r" };
const started = { type: "RUN_STARTED", ...ids };
const finished = { type: "RUN_FINISHED", ...ids };
const say = (delta: string, messageId = "m") => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
  { type: "TEXT_MESSAGE_END", messageId },
];
const call = (args: string, toolCallId = "c") => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "read" },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
  { type: "TOOL_CALL_END", toolCallId },
];
const result = { type: "TOOL_CALL_RESULT", messageId: "c:result", toolCallId: "c", content: "done", role: "tool" };
const snapshot = { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "x.y", content: { n: 1 } };
const delta = (path: string, op = "replace") => ({
  type: "ACTIVITY_DELTA",
  messageId: "a",
  activityType: "x.y",
  patch: [{ op, path, value: 2 }],
});

interface Row {
  readonly events: Run;
  /** Types of the events that go out, between `RUN_STARTED` and the terminal event. */
  readonly out: readonly string[];
  /** The terminal event, or the code of the error. @default RUN_FINISHED */
  readonly end?: string;
  readonly options?: JudgeOptions;
}

const text = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
const toolCall = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
const EVENT = "HUMAN_PLUS_AG_UI_EVENT";

/** Each way in which a producer breaks clients, and what the handler makes of it. */
const rows: Readonly<Record<string, Row>> = {
  "begins with something else": { events: [...say("hi"), finished], out: text },
  "begins twice": { events: [started, started, ...say("hi"), finished], out: text },
  "begins again after its end": { events: [started, finished, started, ...say("hi"), finished], out: [] },
  "goes on after RUN_FINISHED": { events: [started, finished, ...say("late")], out: [] },
  "goes on after RUN_ERROR": {
    events: [started, { type: "RUN_ERROR", message: "no", code: "x" }, ...say("late")],
    out: [],
    end: "x",
  },
  "finishes after an error": {
    events: [started, { type: "RUN_ERROR", message: "no", code: "x" }, finished],
    out: [],
    end: "x",
  },
  "fails after it finished": { events: [started, finished, { type: "RUN_ERROR", message: "late" }], out: [] },
  "fails twice": {
    events: [started, { type: "RUN_ERROR", message: "first", code: "x" }, { type: "RUN_ERROR", message: "second" }],
    out: [],
    end: "x",
  },
  "never says how it ended": { events: [started, ...say("hi")], out: text, end: "HUMAN_PLUS_AG_UI_INCOMPLETE" },
  "says nothing at all": { events: [], out: [] },
  "says nothing but that it began": { events: [started], out: [], end: "HUMAN_PLUS_AG_UI_INCOMPLETE" },
  "has content of a text that is not open": {
    events: [started, { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" }, finished],
    out: text,
  },
  "ends a text that is not open": {
    events: [started, { type: "TEXT_MESSAGE_END", messageId: "m" }, finished],
    out: [],
  },
  "begins a text twice": { events: [started, say("")[0], ...say("hi"), finished], out: text },
  "has arguments of a call that is not open": {
    events: [started, { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" }, finished],
    out: [],
  },
  "ends a call that is not open": { events: [started, { type: "TOOL_CALL_END", toolCallId: "c" }, finished], out: [] },
  "begins a call twice": { events: [started, call("{}")[0], ...call("{}"), finished], out: toolCall },
  "makes a call again under the same id": { events: [started, ...call("{}"), ...call("{}"), finished], out: toolCall },
  "makes a call of the history again": {
    events: [started, ...call("{}"), finished],
    out: [],
    options: {
      input: {
        messages: [
          { id: "u1", role: "user", content: "Tidy up" },
          {
            id: "a1",
            role: "assistant",
            toolCalls: [{ id: "c", type: "function", function: { name: "read", arguments: "{}" } }],
          },
          { id: "t1", role: "tool", toolCallId: "c", content: "done" },
        ],
      },
    },
  },
  "finishes with an open text": { events: [started, ...say("hi").slice(0, 2), finished], out: text },
  "fails with an open text": {
    events: [started, ...say("hi").slice(0, 2), { type: "RUN_ERROR", message: "no", code: "x" }],
    out: text,
    end: "x",
  },
  "finishes with an open call": { events: [started, ...call("{}").slice(0, 2), finished], out: toolCall },
  "breaks off in the middle of arguments": {
    events: [started, ...call('{"a":').slice(0, 2)],
    out: [],
    end: "HUMAN_PLUS_AG_UI_INCOMPLETE",
  },
  "finishes with an open step": {
    events: [started, { type: "STEP_STARTED", stepName: "one" }, finished],
    out: ["STEP_STARTED", "STEP_FINISHED"],
  },
  "ends a step that is not open": { events: [started, { type: "STEP_FINISHED", stepName: "one" }, finished], out: [] },
  "begins a step twice": {
    events: [started, { type: "STEP_STARTED", stepName: "one" }, { type: "STEP_STARTED", stepName: "one" }, finished],
    out: ["STEP_STARTED", "STEP_FINISHED"],
  },
  "finishes with open reasoning": {
    events: [
      started,
      { type: "REASONING_START", messageId: "x" },
      { type: "REASONING_MESSAGE_START", messageId: "x", role: "reasoning" },
      finished,
    ],
    out: ["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "REASONING_END"],
  },
  "reasons without a beginning": {
    events: [started, { type: "REASONING_MESSAGE_CONTENT", messageId: "x", delta: "hm" }, finished],
    out: ["REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END"],
  },
  "has a subagent that never ends": {
    events: [started, { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "helper" }, finished],
    out: [],
  },
  "tags events for a subagent that is null": {
    events: [started, ...say("hi").map((event) => ({ ...event, subagentRunId: null })), finished],
    out: text,
  },
  "sends a first chunk without an id": {
    events: [started, { type: "TEXT_MESSAGE_CHUNK", delta: "hi" }, finished],
    out: [],
  },
  "sends a first chunk of a call without a name": {
    events: [started, { type: "TOOL_CALL_CHUNK", toolCallId: "c", delta: "{}" }, finished],
    out: [],
  },
  "lacks a delta": {
    events: [started, say("")[0], { type: "TEXT_MESSAGE_CONTENT", messageId: "m" }, say("")[2], finished],
    out: [text[0] ?? "", text[2] ?? ""],
  },
  "has a fraction of a millisecond": {
    events: [started, ...say("hi").map((event, index) => ({ ...event, timestamp: [1.5, 1e300][index % 2] })), finished],
    out: text,
  },
  "interrupts for nothing": {
    events: [started, { ...finished, outcome: { type: "interrupt", interrupts: [] } }],
    out: [],
    end: EVENT,
  },
  "has one id for two interrupts": {
    events: [
      started,
      {
        ...finished,
        outcome: {
          type: "interrupt",
          interrupts: [
            { id: "i", reason: "x:y" },
            { id: "i", reason: "x:y" },
          ],
        },
      },
    ],
    out: [],
    end: EVENT,
  },
  "has an event nobody knows": { events: [started, { type: "HUMANPLUS_NEWS" }, ...say("hi"), finished], out: text },
  "has events of long ago": { events: [started, { type: "THINKING_START", title: "hm" }, finished], out: [] },
  "says what is no event": { events: [started, null, 7, "x", [], {}, { type: 7 }, finished], out: [] },
  "has an outcome nobody knows": { events: [started, { ...finished, outcome: { type: "tired" } }], out: [] },
  "has null for what is absent": {
    events: [
      started,
      { ...call("{}")[0], parentMessageId: null, metadata: null },
      ...call("{}").slice(1),
      { ...finished, result: null, outcome: null },
    ],
    out: toolCall,
  },
  "has unknown members": {
    events: [started, ...say("hi").map((event) => ({ ...event, surface: "board" })), finished],
    out: text,
  },
  "sends what the provider said": {
    events: [started, ...say("hi").map((event) => ({ ...event, rawEvent: { key: "secret" } })), finished],
    out: text,
  },
  "is another run": {
    events: [
      { ...started, runId: "other" },
      { ...finished, threadId: "other", runId: "other" },
    ],
    out: [],
  },
  "answers with parts": {
    events: [started, ...call("{}"), { ...result, content: [{ type: "text", text: "x" }] }, finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "answers a call that nobody made": { events: [started, result, finished], out: [] },
  "answers a call twice": {
    events: [started, ...call("{}"), result, { ...result, messageId: "again" }, finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "answers before it ended the call": {
    events: [started, ...call("{}").slice(0, 2), result, call("")[2], finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "answers under an id that is taken": {
    events: [started, ...say("hi"), ...call("{}"), { ...result, messageId: "m" }, finished],
    out: [...text, ...toolCall, "TOOL_CALL_RESULT"],
  },
  "has arguments that are no JSON": {
    events: [started, ...call('{"card":'), result, finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "has arguments that are no object": {
    events: [started, ...call('"budget"'), result, finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "has no arguments at all": {
    events: [started, call("")[0], call("")[2], result, finished],
    out: [...toolCall, "TOOL_CALL_RESULT"],
  },
  "calls the client's tool with arguments that are no JSON": {
    events: [started, ...call('{"all":'), finished],
    out: [],
    end: EVENT,
    options: { input: { tools: [{ name: "read", description: "" }] } },
  },
  "names a parent that is no assistant": {
    events: [started, { ...call("{}")[0], parentMessageId: "u1" }, ...call("{}").slice(1), finished],
    out: toolCall,
  },
  "has a custom event without a value": {
    events: [started, { type: "CUSTOM", name: "x.y" }, finished],
    out: ["CUSTOM"],
  },
  "puts CUSTOM and STATE_* between chunks": {
    events: [
      started,
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "Hel" },
      { type: "CUSTOM", name: "x.y", value: 1 },
      { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
      { type: "TEXT_MESSAGE_CHUNK", delta: "lo" },
      { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "read", delta: '{"a"' },
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/a", value: 2 }] },
      { type: "TOOL_CALL_CHUNK", delta: ":1}" },
      finished,
    ],
    out: [
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "CUSTOM",
      "STATE_SNAPSHOT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STATE_DELTA",
      ...toolCall,
    ],
  },
  "repeats a chunk's field with another value": {
    events: [
      started,
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "one", role: "assistant" },
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: " two", role: "user" },
      finished,
    ],
    out: ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
  },
  "patches state that has no such member": {
    events: [started, { type: "STATE_DELTA", delta: [{ op: "replace", path: "/list/0", value: 1 }] }, finished],
    out: ["STATE_SNAPSHOT"],
  },
  "appends to a list that is not there": {
    events: [started, { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 1 }] }, finished],
    out: ["STATE_SNAPSHOT"],
  },
  "patches state without a snapshot": {
    events: [started, { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 2 }] }, finished],
    out: ["STATE_SNAPSHOT", "STATE_DELTA"],
    options: { input: { state: { list: [1] } } },
  },
  "has a pointer that is none": {
    events: [started, { type: "STATE_DELTA", delta: [{ op: "add", path: "a", value: 1 }] }, finished],
    out: [],
  },
  "has an operation that is none": {
    events: [started, { type: "STATE_DELTA", delta: [{ op: "merge", path: "/a", value: 1 }] }, finished],
    out: [],
  },
  "patches an activity that nobody has": { events: [started, delta("/n"), finished], out: [] },
  "patches an activity where there is nothing": {
    events: [started, snapshot, delta("/x"), finished],
    out: ["ACTIVITY_SNAPSHOT"],
  },
  "patches an activity of another type": {
    events: [started, snapshot, { ...delta("/n"), activityType: "other.type" }, finished],
    out: ["ACTIVITY_SNAPSHOT"],
  },
  "uses an activity's id for a text": {
    events: [started, snapshot, ...say("hi", "a"), finished],
    out: ["ACTIVITY_SNAPSHOT"],
  },
  "uses a text's id for an activity": { events: [started, ...say("hi", "a"), snapshot, finished], out: text },
  "sends all messages while it writes one": {
    events: [
      started,
      ...say("hi").slice(0, 2),
      {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          { id: "u1", role: "user", content: "Tidy up" },
          { id: "m", role: "assistant", content: "hi there" },
        ],
      },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: " there" },
      say("")[2],
      finished,
    ],
    out: [
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "MESSAGES_SNAPSHOT",
    ],
  },
  "has ids that a client could not send back": {
    events: [
      started,
      ...say("hi", "call|fc_1 €"),
      ...call("{}", "__proto__"),
      { ...result, toolCallId: "__proto__" },
      finished,
    ],
    out: [...text, ...toolCall, "TOOL_CALL_RESULT"],
  },
  "is cancelled": {
    events: [started, { ...finished, outcome: { type: "cancelled" } }],
    out: [],
    end: "HUMAN_PLUS_AG_UI_CANCELLED",
    options: { versions: ["0.0.57", "0.0.59"] },
  },
  "is cancelled before a client of today": {
    events: [started, { ...finished, outcome: { type: "cancelled" } }],
    out: [],
    options: { versions: ["1.0.0"] },
  },
  "names calls that wait for the client": {
    events: [started, ...call("{}"), { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } }],
    out: toolCall,
  },
  "throws at once": {
    // biome-ignore lint/correctness/useYield: it never gets there
    events: async function* () {
      throw new Error("secret");
    },
    out: [],
    end: "HUMAN_PLUS_AG_UI_RUN",
  },
  "throws in the middle": {
    async *events() {
      yield* [started, ...say("hi").slice(0, 2)];
      throw new Error("secret");
    },
    out: text,
    end: "HUMAN_PLUS_AG_UI_RUN",
  },
  "throws after its end": {
    async *events() {
      yield* [started, finished];
      throw new Error("secret");
    },
    out: [],
  },
  "throws after it failed": {
    async *events() {
      yield* [started, { type: "RUN_ERROR", message: "no", code: "x" }];
      throw new Error("secret");
    },
    out: [],
    end: "x",
  },
};

describe("a run that", () => {
  test.each(Object.entries(rows))(
    "%s makes a good stream",
    async (_, { events, out, end = "RUN_FINISHED", options }) => {
      const tools = options?.input?.tools !== undefined;
      const verdict = await assertGood({ handler: handlerOf(events, { tools }) }, options);
      const types = verdict.events.map(({ type }) => type);
      expect(types.slice(1, -1)).toEqual(out);
      const last = verdict.events.at(-1);
      expect(last?.["code"] ?? last?.["type"]).toBe(end);
      expect(verdict.body).not.toContain("secret");
    },
  );
});

test("without the handler, each of these breaks a client or its host", async () => {
  const harmless: string[] = [];
  for (const [name, { events, options }] of Object.entries(rows)) {
    if (typeof events === "function") continue;
    // The judge itself stumbles over some.
    const isBad = await judge({ events }, options).then(
      ({ reasons }) => reasons.length > 0,
      () => true,
    );
    if (!isBad) harmless.push(name);
  }
  expect(harmless).toEqual([
    "sends what the provider said", // a leak, which clients take
    "answers before it ended the call",
    "sends all messages while it writes one", // this one had the text already
    "has ids that a client could not send back",
    "is cancelled before a client of today",
  ]);
});

test("what was repaired is told to the host, and holds nothing that the run said", async () => {
  const problems: AgUiProblem[] = [];
  await assertGood({ handler: handlerOf([started, result, delta("/n"), { type: "CUSTOM" }, finished], { problems }) });
  expect(problems.slice(0, 3).map(({ message }) => message)).toEqual([
    "TOOL_CALL_RESULT: there is no call c",
    "ACTIVITY_DELTA: there was no snapshot of a",
    "CUSTOM: name is missing, or not what it should be",
  ]);
  expect(problems[0]).toMatchObject({ threadId: "t", runId: "r" });
});

test("a text of many bytes is cut into events that fit, and nothing of it is lost", async () => {
  const long = `${'"\\\u0000'.repeat(3_000)}${"€😀".repeat(2_000)}`;
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: () => from([...say(long), ...call(JSON.stringify({ long })), { ...result, content: long }]),
    limits: { maxEventBytes: 2_048, maxTextBytes: 1_024 },
  });
  const { events, body } = await assertGood({ handler });
  const parts = events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map((event) => event["delta"]);
  expect(parts.join("")).toBe(long);
  const args = events.filter(({ type }) => type === "TOOL_CALL_ARGS").map((event) => event["delta"]);
  expect(JSON.parse(args.join(""))).toEqual({ long });
  expect(events.find(({ type }) => type === "TOOL_CALL_RESULT")?.["content"]).toMatch(/… \[truncated\]$/);
  for (const frame of body.split("\n\n")) expect(Buffer.byteLength(frame)).toBeLessThanOrEqual(2_048 + 6);
});
