import type { Message } from "@ag-ui/client";
import { describe, expect, test } from "vitest";
import { placeAnswers, unansweredCalls } from "../src/middleware/history.ts";

const user = (id: string): Message => ({ id, role: "user", content: "x" });
const tool = (toolCallId: string): Message => ({ id: `old-${toolCallId}`, role: "tool", toolCallId, content: "x" });
const assistant = (id: string, ...calls: string[]): Message => ({
  id,
  role: "assistant",
  toolCalls: calls.map((call) => ({ id: call, type: "function", function: { name: `tool_${call}`, arguments: "{}" } })),
});
const answers = (...ids: string[]) =>
  ids.map((toolCallId) => ({ toolCallId, messageId: `new-${toolCallId}`, content: toolCallId }));
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id);

describe("answers are placed", () => {
  test("directly behind the message that made their calls, in the order of the calls", () => {
    const placed = placeAnswers([user("u"), assistant("a", "c1", "c2"), user("v")], answers("c2", "c1"));
    expect(idsOf(placed)).toEqual(["u", "a", "new-c1", "new-c2", "v"]);
  });

  test("behind answers that are there already", () => {
    const placed = placeAnswers([assistant("a", "c1", "c2"), tool("c1"), user("u")], answers("c2"));
    expect(idsOf(placed)).toEqual(["a", "old-c1", "new-c2", "u"]);
  });

  test("each behind its own message, where every call has one", () => {
    const placed = placeAnswers([assistant("a", "c1"), assistant("b", "c2")], answers("c1", "c2"));
    expect(idsOf(placed)).toEqual(["a", "new-c1", "b", "new-c2"]);
  });

  test("once, where a call stands in two messages, and nowhere where it stands in none", () => {
    const placed = placeAnswers([assistant("a", "c1"), assistant("b", "c1")], answers("c1", "c9"));
    expect(idsOf(placed)).toEqual(["a", "new-c1", "b"]);
  });
});

test("calls without an answer are found anywhere in a history", () => {
  const history = [assistant("a", "c1", "c2"), tool("c2"), user("u"), assistant("b", "c3")];
  expect(unansweredCalls(history)).toEqual([
    { id: "c1", name: "tool_c1", args: "{}" },
    { id: "c3", name: "tool_c3", args: "{}" },
  ]);
});
