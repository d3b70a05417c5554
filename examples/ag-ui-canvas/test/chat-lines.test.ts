import type { BaseEvent } from "@ag-ui/client";
import { describe, expect, test } from "vitest";
import { toActivityLines } from "../src/pages/chat/activity-lines.ts";
import { createConversationLog } from "../src/pages/chat/conversation-log.ts";

const event = (type: string, fields: object = {}) => ({ type, ...fields }) as unknown as BaseEvent;

const step = [
  event("STEP_STARTED", { stepName: "Move Budget" }),
  event("TOOL_CALL_START", { toolCallId: "c", toolCallName: "canvas__canvas_move" }),
  event("STEP_FINISHED", { stepName: "Move Budget" }),
];
const result = (content: string) => event("TOOL_CALL_RESULT", { toolCallId: "c", content });

describe("the conversation", () => {
  test.each([
    ["Budget is at 1, 2.", "done"],
    ["The tool says that it failed.\nheld", "declined"],
    [
      "The call of canvas_move did not succeed (surface_changed_under_you, not_applied). Nothing was written.",
      "refused",
    ],
    ["The call of canvas_move did not succeed (relay_failed, unknown). What became of it ...", "failed"],
    ["There is no result of this call here: ...", "failed"],
    ["A person accepted the proposal, and it was written.\n...", "accepted"],
    ["A person accepted the proposal, but what it touches had changed since.", "stale"],
  ])("says of a step that was answered with %j that it is %s", (content, state) => {
    const log = createConversationLog();
    for (const each of [...step, result(content)]) log.on(each);
    expect(log.items).toMatchObject([{ kind: "step", name: "Move Budget", state, answer: content }]);
  });

  test("shows a run that failed, and what did not come to an end in it", () => {
    const log = createConversationLog();
    for (const each of [...step, event("RUN_ERROR", { message: "gone", code: "X" })]) log.on(each);
    expect(log.items).toMatchObject([{ state: "stopped" }, { kind: "fault", text: "The run failed: gone" }]);
    log.on(result("There is no result of this call here: ..."));
    expect(log.items[0]).toMatchObject({ state: "stopped" });
  });

  test("asks once for each proposal that a run stops at, and for nothing else", () => {
    const log = createConversationLog();
    const ours = { id: "i", reason: "humanplus:proposal", metadata: { humanplus: { proposalId: "p" } } };
    const outcome = { type: "interrupt", interrupts: [ours, { id: "x", reason: "input_required" }] };
    for (const each of [...step, event("RUN_FINISHED", { outcome }), event("RUN_FINISHED", { outcome })]) log.on(each);
    expect(log.items).toMatchObject([{ state: "waiting" }, { kind: "proposal", interruptId: "i", proposalId: "p" }]);
    log.settled("i");
    expect(log.items).toHaveLength(1);
  });
});

test("the activity is read whatever it holds", () => {
  const entries = {
    e1: { type: "call", tool: "canvas_move", state: "finished", arguments: { handle: "budget" } },
    e2: { type: "changed", rows: [{ actor: "agent", kind: "moved", handle: "a" }] },
    e3: { type: "changed", rows: [{ actor: "human", kind: "moved", label: "Budget" }] },
    e4: { type: "call", tool: "canvas_move", state: "refused", rows: "x" },
    e5: "nothing",
    e6: { type: "unheard of" },
    e7: { type: "changed", rows: [null, "x"] },
  };
  expect(toActivityLines({ entries }).map(({ text }) => text)).toEqual([
    "Refused, nothing written: Tidy would have moved",
    "You moved Budget",
    "Tidy moved budget",
  ]);
  for (const content of [undefined, null, 1, "x", [], { entries: [] }]) expect(toActivityLines(content)).toEqual([]);
});
