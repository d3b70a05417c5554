import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { AgentEvent, AgentSession } from "./host.ts";
import { followRun } from "./run-progress.ts";

test("a host whose events fail has no run that could be steered, and nothing of the failure goes unhandled", async () => {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  async function* events(): AsyncGenerator<AgentEvent> {
    yield { type: "agent_started" } as AgentEvent;
    await lost;
  }
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", hear);
  const run = followRun({ subscribe: events } as unknown as AgentSession, { onTurn() {}, onEnd() {} });
  await turn();
  expect(run.isRunning).toBe(true);
  reject(new Error("the store of events is gone"));
  await turn();
  await turn();
  process.off("unhandledRejection", hear);
  expect(run.isRunning).toBe(false);
  expect(unhandled).toEqual([]);
  run.close();
});
