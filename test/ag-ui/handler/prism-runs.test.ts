import { createAgUiHandler, fromPrism, type Projection } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood, type JudgeOptions } from "../judge.ts";
import { createSession, type SessionEvent, sessionOf, talkAndCall } from "../parts/prism-session.ts";

const handlerOf = (session: ReturnType<typeof createSession>, projection: Projection = {}) =>
  createAgUiHandler({
    authorize: () => ({}),
    run: ({ input, signal }) => fromPrism(session.stream(input, { signal })),
    projection,
  });

/** The events between the first and the last, without what is the same in all. */
async function mapped(events: readonly SessionEvent[], projection: Projection = {}, options: JudgeOptions = {}) {
  const verdict = await assertGood({ handler: handlerOf(sessionOf(events), projection) }, options);
  return { all: verdict.events, inner: verdict.events.slice(1, -1), end: verdict.events.at(-1), body: verdict.body };
}

const finished = { type: "agent_finished" };
const started = { type: "agent_started" };
const turn = (...events: SessionEvent[]) => [
  { type: "turn_started", turn: 1 },
  ...events,
  { type: "turn_finished", turn: 1 },
];
const delta = (text: string) => ({ type: "message_delta", content: { type: "text", text } });
const message = (type: string, content: unknown = [], role = "assistant") => ({
  type,
  message: { id: "m1", role, content },
});
const call = { type: "tool_call", id: "c1", name: "read", arguments: { key: "secret" } };
const step = (type: string) => ({ type, stepName: "turn:1" });
const toolCall = (args = "{}") => [
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "read" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: args },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
];
const toolResult = (content: string) => ({
  type: "TOOL_CALL_RESULT",
  messageId: "c1:result",
  toolCallId: "c1",
  content,
  role: "tool",
});
const text = (...deltas: string[]) => [
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  ...deltas.map((each) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: each })),
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
];
const executionFinished = {
  type: "tool_execution_finished",
  result: { toolCallId: "c1", name: "read", value: "secret" },
};

describe("events of Prism become", () => {
  test.each<readonly [string, readonly SessionEvent[], readonly object[]]>([
    ["the beginning and the end", [started, finished], []],
    [
      "a text, in its step",
      [
        started,
        ...turn(message("message_started"), delta("Hel"), delta(""), delta("lo"), message("message_finished")),
        finished,
      ],
      [step("STEP_STARTED"), ...text("Hel", "lo"), step("STEP_FINISHED")],
    ],
    [
      "a text that came at once",
      [started, message("message_started"), message("message_finished", [{ type: "text", text: "Hello" }]), finished],
      text("Hello"),
    ],
    [
      "a text, where only deltas came",
      [started, delta("Hello"), finished],
      text("Hello").map((event) => ({ ...event, messageId: "r:message-1" })),
    ],
    [
      "nothing, of what others say",
      [started, message("message_started", [], "user"), message("message_finished", "secret", "user"), finished],
      [],
    ],
    ["nothing, of a step without anything in it", [started, ...turn(), finished], []],
    [
      "nothing, of thoughts",
      [started, { type: "message_delta", content: { type: "thinking", text: "secret" } }, finished],
      [],
    ],
    [
      "nothing, of calls that are being written",
      [
        started,
        { type: "message_delta", content: { type: "tool_call_delta", index: 0, argumentsText: "secret" } },
        finished,
      ],
      [],
    ],
    [
      "a call, and a word for its result",
      [started, { type: "tool_execution_started", call }, executionFinished, finished],
      [...toolCall(), toolResult("completed")],
    ],
    ["a call that was never begun", [started, executionFinished, finished], [...toolCall(), toolResult("completed")]],
    [
      "a call that failed",
      [
        started,
        { type: "tool_execution_started", call },
        { type: "tool_execution_error", call, error: { message: "secret" } },
        finished,
      ],
      [...toolCall(), toolResult("failed")],
    ],
    [
      "a call that was blocked",
      [started, { type: "tool_execution_blocked", toolCallId: "c1", name: "read", reason: "secret" }, finished],
      [...toolCall(), toolResult("blocked")],
    ],
    [
      "nothing, of progress",
      [started, { type: "tool_execution_progress", toolCallId: "c1", name: "read", progress: "secret" }, finished],
      [],
    ],
    [
      "nothing, of usage and compaction",
      [started, { type: "compaction_started" }, { type: "compaction_finished", summary: "secret" }, finished],
      [],
    ],
    [
      "nothing, of what nobody knows",
      [started, { type: "from_the_future", secret: "secret" }, {} as SessionEvent, finished],
      [],
    ],
    [
      "an activity, of a delegated agent",
      [
        started,
        { type: "delegated_agent_step", stepIndex: 2, state: "active", kind: "tool", toolName: "secret" },
        finished,
      ],
      [
        {
          type: "ACTIVITY_SNAPSHOT",
          messageId: "r:delegated",
          activityType: "humanplus.delegated_agent_step",
          content: { stepIndex: 2, state: "active", kind: "tool" },
          replace: true,
        },
      ],
    ],
    [
      "news of a run that went on",
      [{ type: "agent_resumed", version: 3 }, finished],
      [{ type: "CUSTOM", name: "humanplus.run", value: { status: "running", version: 3 } }],
    ],
  ])("%s", async (_, events, out) => {
    const { inner, end, body } = await mapped(events);
    expect(inner).toEqual(out);
    expect(end).toEqual({ type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } });
    expect(body).not.toContain("secret");
  });

  test("a whole run, in order, with the ids of the request", async () => {
    const { all } = await mapped(talkAndCall());
    expect(all.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
  });

  test.each<readonly [string, readonly SessionEvent[], object]>([
    [
      "an error with its code",
      [started, { type: "error", error: { message: "no tokens left", code: "QUOTA" } }],
      { message: "no tokens left", code: "QUOTA" },
    ],
    [
      "an error without one",
      [started, { type: "error", error: {} }],
      { message: "The run failed", code: "HUMAN_PLUS_AG_UI_RUN" },
    ],
    ["lost events", [started, { type: "event_subscriber_overflow" }], { code: "HUMAN_PLUS_AG_UI_OVERFLOW" }],
    [
      "a limit, of which nothing more is heard",
      [started, { type: "run_limit_exceeded", breach: {} }],
      { code: "HUMAN_PLUS_AG_UI_LIMIT" },
    ],
    ["nothing at all", [started], { code: "HUMAN_PLUS_AG_UI_INCOMPLETE" }],
  ])("an error, of a run whose end is: %s", async (_, events, error) => {
    expect((await mapped(events)).end).toMatchObject({ type: "RUN_ERROR", ...error });
  });
});

test("a run that was denied ends well for clients that know no better, and says so", async () => {
  const denied = [started, { type: "agent_denied", version: 2, interruption: {} }];
  const news = { type: "CUSTOM", name: "humanplus.run", value: { status: "denied", version: 2 } };
  const end = { type: "RUN_FINISHED", threadId: "t", runId: "r", result: { status: "denied" } };
  const old = await mapped(denied, {}, { versions: ["0.0.57", "0.0.59"] });
  expect([...old.inner, old.end]).toEqual([news, end]);
  const current = await mapped(denied, {}, { versions: ["1.0.0"] });
  expect([...current.inner, current.end]).toEqual([news, { ...end, outcome: { type: "cancelled" } }]);
});

describe("a projection", () => {
  const all: Projection = {
    toolArguments: ({ arguments: args }) => JSON.stringify(args),
    toolResult: async ({ value }) => value,
    reasoning: ({ text: thought }) => ({ text: thought.toUpperCase(), encryptedValue: "e" }),
    stateSnapshot: ({ type }) => (type === "agent_started" ? { n: 1 } : undefined),
    stateDelta: ({ type }) => (type === "turn_started" ? [{ op: "replace", path: "/n", value: 2 }] : undefined),
    messages: ({ type }) =>
      type === "message_finished"
        ? [
            { id: "u1", role: "user", content: "Tidy up" },
            { id: "m1", role: "assistant", content: "Hello" },
          ]
        : undefined,
    activity: ({ type }) =>
      type === "turn_started"
        ? { type: "snapshot", messageId: "a", activityType: "x.y", content: { n: 1 } }
        : undefined,
    raw: ({ type, source }) => (type === "other" ? { event: source as never, source: "prism" } : undefined),
    custom: ({ type }) => (type === "turn_finished" ? { name: "x.y", value: null } : undefined),
    state: ({ type }) => type,
  };

  test("lets out what it gives, and awaits it", async () => {
    const events = [
      started,
      ...turn(
        { type: "message_delta", content: { type: "thinking", text: "hm" } },
        message("message_started"),
        delta("Hello"),
        message("message_finished"),
      ),
      { type: "tool_execution_started", call },
      executionFinished,
      { type: "agent_resumed", version: 1 },
      { type: "compaction_started" },
      finished,
    ];
    const { inner } = await mapped(events, all);
    expect(inner).toEqual([
      { type: "STATE_SNAPSHOT", snapshot: { n: 1 } },
      { type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: 2 }] },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "x.y", content: { n: 1 } },
      step("STEP_STARTED"),
      { type: "REASONING_START", messageId: "r:reasoning-1" },
      { type: "REASONING_MESSAGE_START", messageId: "r:reasoning-1", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r:reasoning-1", delta: "HM" },
      { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "r:reasoning-1", encryptedValue: "e" },
      { type: "REASONING_MESSAGE_END", messageId: "r:reasoning-1" },
      { type: "REASONING_END", messageId: "r:reasoning-1" },
      ...text("Hello"),
      expect.objectContaining({ type: "MESSAGES_SNAPSHOT" }),
      step("STEP_FINISHED"),
      { type: "CUSTOM", name: "x.y", value: null },
      ...toolCall('{"key":"secret"}'),
      toolResult("secret"),
      { type: "CUSTOM", name: "humanplus.run", value: { status: "running", version: 1, state: "agent_resumed" } },
      { type: "RAW", event: { type: "compaction_started", sessionId: "s", runId: "pr" }, source: "prism" },
    ]);
  });

  test.each<readonly [string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("x");
      },
    ],
    ["rejects", () => Promise.reject(new Error("x"))],
    ["gives what is no JSON", () => ({ n: 1n })],
    ["gives a class", () => new Map([["a", 1]])],
    ["gives something that is too large", () => ({ x: "x".repeat(70_000) })],
    ["gives something that is too deep", () => Array.from({ length: 20 }).reduce((inner) => ({ inner }), 1)],
    ["gives a key that reaches the prototype", () => JSON.parse('{"__proto__":{"x":1}}') as unknown],
    ["gives something else", () => 7],
  ])("that %s lets nothing out, and the run goes on", async (_, give) => {
    const broken = Object.fromEntries(
      Object.keys(all)
        .filter((name) => !["stateSnapshot", "toolResult", "state"].includes(name))
        .map((name) => [name, give]),
    ) as Projection;
    const { inner } = await mapped([started, ...talkAndCall().slice(1)], broken);
    expect(inner.filter(({ type }) => /STATE|ACTIVITY|CUSTOM|RAW|MESSAGES|REASONING/.test(String(type)))).toEqual([]);
    expect(inner.find(({ type }) => type === "TOOL_CALL_ARGS")?.["delta"]).toBe("{}");
  });

  test("leaves the answer to a call of the client's tool to the client", async () => {
    const handler = createAgUiHandler<object, string>({
      authorize: () => ({}),
      input: { project: () => "go", frontendTools: () => ["read"] },
      run: ({ signal }) =>
        fromPrism(
          sessionOf([started, { type: "tool_execution_started", call }, executionFinished, finished]).stream("", {
            signal,
          }),
        ),
      projection: { toolArguments: () => '{"card":"budget"}' },
    });
    const input = { tools: [{ name: "read", description: "" }] };
    const { events } = await assertGood({ handler }, { input });
    expect(events.slice(1, -1)).toEqual(toolCall('{"card":"budget"}'));
  });
});

describe("fromPrism", () => {
  test("reads a session to its end when its reader leaves, so that its failure is nobody's", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const session = sessionOf([started], new Error("no tokens left"));
    for await (const event of fromPrism(session.stream("x"))) if (event.type === "error") break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  test("begins nothing that is left before it began", async () => {
    let isBegun = false;
    const session = createSession(async () => {
      isBegun = true;
    });
    await fromPrism(session.stream("x")).return?.();
    expect(isBegun).toBe(false);
  });
});
