import { type AbstractAgent, type BaseEvent, defaultApplyEvents, type RunAgentInput } from "@ag-ui/client";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { expect, test, vi } from "vitest";
import { applyEvents } from "../src/middleware/history.ts";

const metadata = fc.option(fc.dictionary(fc.constantFrom("a", "b", "humanplus"), fc.integer()), { nil: undefined });
const role = fc.constantFrom(undefined, "assistant", "user", "system");
const parent = fc.constantFrom(undefined, "m0", "m1", "u1", "new", "act");
const id = (letter: string) => fc.integer({ min: 0, max: 5 }).map((number) => `${letter}${number}`);
/** Agents use the id of an activity for a text as well. */
const textId = fc.oneof({ weight: 5, arbitrary: id("m") }, fc.constant("act"));
const subagentRunId = fc.constantFrom(undefined, "sub");

/** One whole item of a stream, as agents send them: an end behind each start, and ids that come again. */
const item = fc.oneof(
  fc.record({ messageId: textId, role, metadata, subagentRunId, deltas: fc.array(fc.string()) }).map(text),
  fc
    .record({ toolCallId: id("c"), parentMessageId: parent, metadata, subagentRunId, deltas: fc.array(fc.string()) })
    .map(call),
  fc.record({ messageId: id("r"), metadata, deltas: fc.array(fc.string()) }).map(reasoning),
  fc
    .record({ messageId: fc.uuid(), toolCallId: id("c"), metadata, subagentRunId })
    .map((fields) => [{ type: "TOOL_CALL_RESULT", content: "done", role: "tool", ...fields }]),
  fc
    .record({ subtype: fc.constantFrom("tool-call", "message"), entityId: fc.oneof(id("c"), id("m"), id("r")) })
    .map((fields) => [{ type: "REASONING_ENCRYPTED_VALUE", encryptedValue: "x", ...fields }]),
  fc.constant([{ type: "MESSAGES_SNAPSHOT", messages: [{ id: "u1", role: "user", content: "again" }] }]),
  fc.integer().map((value) => [{ type: "STATE_DELTA", delta: [{ op: "add", path: "/x", value }] }]),
  fc.integer().map((value) => [{ type: "STATE_SNAPSHOT", snapshot: { value } }]),
);

function text({ deltas, metadata, messageId, ...start }: { deltas: string[]; metadata: unknown; messageId: string }) {
  return [
    { type: "TEXT_MESSAGE_START", messageId, metadata, ...start },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
    { type: "TEXT_MESSAGE_END", messageId, metadata: metadata && { end: 1 } },
  ];
}

function call({ deltas, metadata, toolCallId, ...start }: { deltas: string[]; metadata: unknown; toolCallId: string }) {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: `tool ${deltas.length}`, metadata, ...start },
    ...deltas.map((delta) => ({ type: "TOOL_CALL_ARGS", toolCallId, delta })),
    { type: "TOOL_CALL_END", toolCallId, metadata: metadata && { end: 1 } },
  ];
}

function reasoning({ deltas, metadata, messageId }: { deltas: string[]; metadata: unknown; messageId: string }) {
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", metadata },
    ...deltas.map((delta) => ({ type: "REASONING_MESSAGE_CONTENT", messageId, delta })),
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}

const input = {
  threadId: "t",
  runId: "r",
  state: { theirs: 1 },
  messages: [
    { id: "u1", role: "user", content: "Tidy up" },
    {
      id: "m0",
      role: "assistant",
      toolCalls: [{ id: "c0", type: "function", function: { name: "a", arguments: "{}" } }],
    },
    { id: "t0", role: "tool", toolCallId: "c0", content: "x" },
    { id: "act", role: "activity", activityType: "their.thing", content: {} },
  ],
} as unknown as RunAgentInput;

async function applyByClient(events: readonly BaseEvent[]) {
  const agent = { messages: structuredClone(input.messages) } as unknown as AbstractAgent;
  const mutations = await lastValueFrom(defaultApplyEvents(input, from([...events]), agent, []).pipe(toArray()));
  return {
    messages: mutations.findLast(({ messages }) => messages !== undefined)?.messages ?? input.messages,
    state: mutations.findLast(({ state }) => state !== undefined)?.state ?? input.state,
  };
}

test("a run leaves behind the messages and the state that the client makes of its events", async () => {
  using _ = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const answered = (toolCallId: string) => ({
    type: "TOOL_CALL_RESULT",
    messageId: toolCallId,
    toolCallId,
    content: "",
  });
  const property = fc.asyncProperty(fc.array(item, { maxLength: 12 }), async (items) => {
    const events = structuredClone(items.flat()) as unknown as BaseEvent[];
    const before = structuredClone(events);
    expect(await applyEvents(input, events)).toEqual(await applyByClient(events));
    expect(events).toEqual(before);
  });
  // Answers to calls that nobody made, before and behind one that somebody did.
  const strays = [call({ deltas: [], metadata: undefined, toolCallId: "c1" }), ["c9", "c1", "c8"].map(answered)];
  await fc.assert(property, { numRuns: 300, examples: [[strays as never]] });
});

test("many calls take the time of few", { timeout: 20_000 }, async () => {
  const calls = Array.from({ length: 20_000 }, (_, index) => [
    { type: "TOOL_CALL_START", toolCallId: `n${index}`, toolCallName: "read" },
    { type: "TOOL_CALL_ARGS", toolCallId: `n${index}`, delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: `n${index}` },
    { type: "TOOL_CALL_RESULT", messageId: `a${index}`, toolCallId: `n${index}`, content: "x" },
  ]);
  // The client takes minutes for so many.
  const { messages } = await applyEvents(input, calls.flat() as unknown as BaseEvent[]);
  expect(messages).toHaveLength(input.messages.length + 40_000);
});
