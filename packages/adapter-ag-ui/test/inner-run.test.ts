import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import { filter, Observable, Subscriber } from "rxjs";
import { describe, expect, test } from "vitest";
import { AgentProblems } from "../src/middleware/agent-problems.ts";
import { InnerEvents } from "../src/middleware/inner-events.ts";
import { runAgent } from "../src/middleware/inner-run.ts";
import { RunOutput } from "../src/middleware/run-output.ts";

const ids = { threadId: "t", runId: "r" };
const start = { type: "RUN_STARTED", ...ids };
const finish = { type: "RUN_FINISHED", ...ids };
const failed = { type: "RUN_ERROR", message: "no" };
const call = (toolCallId: string) => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "read" },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId },
];

/** Runs an agent that says all this in one go. */
async function hear(said: readonly unknown[]) {
  const heard: BaseEvent[] = [];
  const told: string[] = [];
  const problems = new AgentProblems(({ message }) => void told.push(message));
  const events = new InnerEvents();
  const output = new RunOutput(
    new Subscriber({ next: (event?: BaseEvent) => void heard.push(event as BaseEvent) } as Subscriber<BaseEvent>),
    ids as RunAgentInput,
  );
  const agent = new Observable<BaseEvent>((subscriber) => {
    for (const event of said) subscriber.next(event as BaseEvent);
    subscriber.complete();
  }).pipe(filter((event) => problems.check(event)));
  const { signal } = new AbortController();
  const end = await runAgent(agent, { output, events, problems, signal });
  const calls = events.unanswered().map(({ id }) => id);
  return { end: end.type, types: heard.map(({ type }) => String(type)), told, calls };
}

describe("a call is heard", () => {
  test.each([
    ["before an end", [start, ...call("c1"), finish], ["c1"]],
    ["not after an end", [start, ...call("c1"), finish, ...call("c2")], ["c1"]],
    ["not after a second end", [start, finish, finish, ...call("c2")], []],
    ["not after a failure", [start, failed, ...call("c2"), finish], []],
    ["not after a failure behind an end", [start, finish, failed, ...call("c2")], []],
    ["not where a run that failed begins again", [start, failed, start, ...call("c2")], []],
    ["in a second run of the stream", [start, finish, start, ...call("c2"), finish], ["c2"]],
  ])("%s", async (name, said, calls) => {
    const { types, told, ...rest } = await hear(said);
    expect(rest).toEqual({ calls, end: (said as unknown[]).includes(failed) ? "failed" : "finished" });
    expect(types.filter((type) => type === "TOOL_CALL_END")).toHaveLength(calls.length);
    if (name.startsWith("in a second")) expect(told).toEqual([]);
  });

  test("once, however often it begins, and with all that was said of it", async () => {
    const events = new InnerEvents();
    for (const event of [...call("c1"), ...call("c1")]) events.add(event as unknown as BaseEvent);
    expect(events.unanswered()).toMatchObject([{ id: "c1", args: "{}{}" }]);
  });
});

describe("what is wrong with an agent's events is told", () => {
  test("once for each type in a run, and what is known nowhere is passed on", async () => {
    const unknown = { type: "TOOL_CALL_STRAT", toolCallId: "c0" };
    const { told, types } = await hear([
      start,
      unknown,
      null,
      7,
      {},
      unknown,
      { type: "text" },
      finish,
      unknown,
      ...call("c1"),
    ]);
    expect(types).toEqual(["RUN_STARTED", "TOOL_CALL_STRAT", "TOOL_CALL_STRAT", "text"]);
    expect(told).toEqual([
      'the agent said "TOOL_CALL_STRAT", which is no type of event that this client knows',
      "the agent said something that is no event, and it was left out",
      'the agent said "text", which is no type of event that this client knows',
      ...["TOOL_CALL_STRAT", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"].map(
        (type) => `the agent said "${type}" after its run had ended, and nobody acts on it`,
      ),
    ]);
  });

  test("in few words, and few times", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ type: `${index}`.padEnd(10_000, "x") }));
    const { told } = await hear([start, ...many, finish]);
    expect(told).toHaveLength(17);
    expect(told.at(-1)).toMatch(/more is wrong/);
    expect(Math.max(...told.map(({ length }) => length))).toBeLessThan(200);
  });
});

test("an event of which nothing can be made fails the run, and not the process", async () => {
  const nameless = { type: "TOOL_CALL_START", toolCallId: Object.create(null), toolCallName: "x" };
  await expect(hear([start, nameless, ...call("c1"), finish])).rejects.toThrow(TypeError);
});
