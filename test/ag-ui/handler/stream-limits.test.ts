import { createAgUiHandler, type LimitName } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood } from "../judge.ts";

function handlerOf(events: readonly object[], limits: Partial<Record<LimitName, number>> = {}) {
  return createAgUiHandler<object>({
    authorize: () => ({}),
    run: async function* () {
      yield* events;
    },
    limits,
  });
}

const call = (toolCallId: string, delta = '{"a":1}', toolCallName = "read") => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName },
  { type: "TOOL_CALL_ARGS", toolCallId, delta },
  { type: "TOOL_CALL_END", toolCallId },
];
const finished = { type: "RUN_FINISHED" };

/** A run in which something of every kind begins, goes on and ends. */
const everything = [
  { type: "STEP_STARTED", stepName: "s" },
  { type: "REASONING_START", messageId: "th" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "th", delta: "hm" },
  { type: "REASONING_MESSAGE_END", messageId: "th" },
  { type: "REASONING_END", messageId: "th" },
  { type: "TEXT_MESSAGE_START", messageId: "m1" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "hi" },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
  ...call("c1"),
  { type: "STEP_FINISHED", stepName: "s" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "begun by its content" },
  finished,
];

describe("a stream at its limit", () => {
  test.each(Array.from({ length: 13 }, (_, index) => index + 1))(
    "of %i events ends in order, wherever that is in the run",
    async (maxStreamEvents) => {
      const { events } = await assertGood(
        { handler: handlerOf(everything, { maxStreamEvents }) },
        { versions: ["1.0.0"] },
      );
      expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_LIMIT" });
    },
  );

  test("leaves a call out, of which not all would fit", async () => {
    const limits = { maxEventBytes: 1_024, maxStreamBytes: 16_384 };
    const handler = handlerOf([...call("c1", JSON.stringify({ a: "y".repeat(16_384) })), finished], limits);
    const { events } = await assertGood({ handler }, { versions: ["1.0.0"] });
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  });
});

describe("an event that is too large to begin something", () => {
  const long = "x".repeat(100_000);

  test.each(
    Object.entries({
      "a call": [...call("c", "{}", long), { type: "TOOL_CALL_RESULT", toolCallId: "c", content: "done" }],
      "a text": [
        { type: "TEXT_MESSAGE_START", messageId: "m", name: long },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "said by nobody" },
        { type: "TEXT_MESSAGE_END", messageId: "m" },
      ],
      "a step": [
        { type: "STEP_STARTED", stepName: long },
        { type: "STEP_FINISHED", stepName: long },
      ],
    }),
  )("%s: what follows it does not break the client", async (_, events) => {
    const verdict = await assertGood({ handler: handlerOf([...events, finished]) });
    expect(verdict.body.length).toBeLessThan(2_000);
    expect(verdict.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  });

  test("or just small enough, so that its end is too large: that comes with the end of the run", async () => {
    const room = 1_024 - JSON.stringify({ type: "STEP_STARTED", stepName: "" }).length;
    const stepName = "x".repeat(room);
    const events = [{ type: "STEP_STARTED", stepName }, { type: "STEP_FINISHED", stepName }, finished];
    const verdict = await assertGood({ handler: handlerOf(events, { maxEventBytes: 1_024 }) });
    expect(verdict.events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
  });
});

describe("an answer to a call", () => {
  test("whose id is as long as ids can be gets a message id that the client can send back", async () => {
    const toolCallId = "c".repeat(128);
    const answer = { type: "TOOL_CALL_RESULT", toolCallId, content: "done" };
    const handler = handlerOf([...call(toolCallId), answer, finished]);
    const { clients } = await assertGood({ handler }, { versions: ["1.0.0"] });
    const messages = clients[0]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    const next = [...messages, { id: "u2", role: "user", content: "go on" }];
    await assertGood({ handler: handlerOf([finished]) }, { versions: ["1.0.0"], input: { messages: next as never } });
  });

  test("that is in a circle is an empty one, and the run goes on", async () => {
    const content: Record<string, unknown> = {};
    content["self"] = content;
    const handler = handlerOf([...call("c"), { type: "TOOL_CALL_RESULT", toolCallId: "c", content }, finished]);
    const { events } = await assertGood({ handler });
    expect(events.at(-2)).toMatchObject({ type: "TOOL_CALL_RESULT", content: "" });
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  });
});
