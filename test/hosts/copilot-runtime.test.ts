import { expect, test } from "vitest";
import { startCopilot } from "./copilot-runtime.ts";
import { ScriptedAgent, says } from "./scripted-agent.ts";

test("the runtime runs an agent without a surface as it always did", async () => {
  const agent = new ScriptedAgent(() => says("m1", "Hello"));
  await using copilot = await startCopilot(agent);
  const events = await copilot.run({ threadId: "t1", messages: [{ id: "u1", role: "user", content: "Hi" }] });
  expect(events.map(({ type }) => type)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
});

test("connections to anywhere but the loopback address are refused before they are tried", async () => {
  await expect(fetch("http://127.0.0.2:50009/")).rejects.toMatchObject({
    cause: { message: "a test may reach this machine only, not 127.0.0.2" },
  });
});
