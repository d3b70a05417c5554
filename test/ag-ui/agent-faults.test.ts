import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";
import { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { calls, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface, type SurfaceRunOptions, type SurfaceRunResult } from "./parts/surface-runs.ts";

/** What an agent sends in its first round; in later ones it says that it is done. */
type Stream = (ids: { threadId: string; runId: string }) => object[];

const start = (ids: object) => ({ type: "RUN_STARTED", ...ids });
const finish = (ids: object, outcome?: object) => ({ type: "RUN_FINISHED", ...ids, ...(outcome && { outcome }) });
const error = { type: "RUN_ERROR", message: "no", code: "theirs" };
const custom = { type: "CUSTOM", name: "their.news", value: 1 };
const read = calls("c1", "surface__canvas_read");

async function run(stream: Stream, options: Partial<SurfaceRunOptions> = {}, feed = {}): Promise<SurfaceRunResult> {
  await using canvas = await startLiveCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join(), feed });
  await using agent = await startScriptedAgent(({ threadId, runId }: AgUiRunInput, turn) =>
    turn === 1 ? { raw: stream({ threadId, runId }) } : says("done", "Done"),
  );
  return await runWithSurface({ url: agent.url, middleware, ...options });
}

describe("a host gets one good run of an agent that", () => {
  const good: ReadonlyArray<readonly [name: string, stream: Stream, last: string]> = [
    ["goes on after its end", (ids) => [start(ids), finish(ids), custom], "RUN_FINISHED"],
    ["fails after its end", (ids) => [start(ids), finish(ids), error], "RUN_ERROR"],
    ["ends after it failed", (ids) => [start(ids), error, finish(ids)], "RUN_ERROR"],
    ["fails twice", (ids) => [start(ids), error, { ...error, message: "again" }], "RUN_ERROR"],
    ["goes on after it failed", (ids) => [start(ids), error, custom, ...says("m", "x")], "RUN_ERROR"],
    ["ends twice", (ids) => [start(ids), finish(ids), finish(ids)], "RUN_FINISHED"],
    ["begins twice", (ids) => [start(ids), start(ids), ...says("m", "x"), finish(ids)], "RUN_FINISHED"],
    [
      "has two runs in one stream",
      (ids) => [start(ids), ...read, finish(ids), start(ids), finish(ids)],
      "RUN_FINISHED",
    ],
    ["has a second run that never ends", (ids) => [start(ids), finish(ids), start(ids)], "RUN_ERROR"],
    ["never ends", (ids) => [start(ids), ...says("m", "x")], "RUN_ERROR"],
    ["fails before it begins", () => [error], "RUN_ERROR"],
    [
      "is of another thread",
      () => [start({ threadId: "x", runId: "y" }), finish({ threadId: "x", runId: "y" })],
      "RUN_FINISHED",
    ],
  ];
  test.each(good)("%s", async (_, stream, last) => {
    const { types } = await run(stream, {}, { custom: true, state: true, coalesceMs: 0 });
    expect(types.at(-1)).toBe(last);
    expect(types.filter((type) => type === "RUN_STARTED")).toHaveLength(1);
  });
});

test("what an agent says after it failed is not heard", async () => {
  const { types } = await run((ids) => [start(ids), error, custom, ...says("m", "x")]);
  expect(types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
});

test("a snapshot of messages or of state in a run takes none of the surface's news away", async () => {
  const stream: Stream = (ids) => [
    start(ids),
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "u1", role: "user", content: "Tidy up" },
        { id: "their-activity", role: "activity", activityType: "their.thing", content: {} },
      ],
    },
    { type: "STATE_SNAPSHOT", snapshot: { theirs: 2 } },
    ...read,
    finish(ids),
  ];
  for (const version of ["0.0.57", "0.0.59", "1.0.0"] as const) {
    const { messages, state } = await run(stream, { version, input: { state: { theirs: 1 } } }, { state: true });
    const [shown] = messages.filter(({ id }) => id === "humanplus-surface-t");
    expect(shown).toMatchObject({ content: { calls: { finished: 1 } } });
    expect(state).toMatchObject({ theirs: 2, humanplus: { calls: { finished: 1 } } });
  }
});

test("calls that are answered by now are no longer named as pending", async () => {
  const stream: Stream = (ids) => [
    start(ids),
    ...read,
    ...calls("p1", "open_dialog"),
    finish(ids, { type: "success", pendingToolCallIds: ["c1", "p1"] }),
  ];
  const { events, answers } = await run(stream);
  expect(Object.keys(answers)).toEqual(["c1"]);
  expect(events.at(-1)).toMatchObject({ outcome: { type: "success", pendingToolCallIds: ["p1"] } });
});

test.each([
  ["waits for a person", { type: "interrupt", interrupts: [{ id: "theirs", reason: "confirmation" }] }],
  ["was stopped", { type: "cancelled" }],
])("an agent that %s is not run on, but its calls are answered", async (_, outcome) => {
  const { events, answers, types } = await run((ids) => [start(ids), ...read, finish(ids, outcome)]);
  expect(Object.keys(answers)).toEqual(["c1"]);
  expect(events.at(-1)).toMatchObject({ outcome });
  expect(types.filter((type) => type.startsWith("TEXT"))).toEqual([]);
});

test("answers have ids of their own, also where an agent uses the ids of its calls again", async () => {
  await using canvas = await startLiveCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  await using agent = await startScriptedAgent(({ messages }) =>
    messages.at(-1)?.role === "tool" ? says(crypto.randomUUID(), "Done") : read,
  );
  const options = { url: agent.url, middleware };
  const ids = [];
  for (const runId of ["r1", "r2"]) {
    const { events } = await runWithSurface({ ...options, input: { runId } });
    ids.push(...events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ messageId }) => messageId));
  }
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^humanplus-result-/);
});
