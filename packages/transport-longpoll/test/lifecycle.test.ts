import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { accept, answerAtOnce, answerInTime, startPollEndpoint } from "./poll-endpoint.ts";

const relays = [
  ["waits", answerInTime(1_000)],
  ["ignores wait", answerAtOnce],
] as const;

describe.each(relays)("a process whose relay %s", (_, onPoll) => {
  test.each(["closed", "idle", "held"])("ends by itself when its transport is %s", async (state) => {
    await using endpoint = await startPollEndpoint({ onPoll });
    const { code, output } = await run(state, endpoint.baseUrl);
    expect({ code, output }).toEqual({ code: 0, output: "answered\n" });
  });

  test("stays alive while an exchange waits", async () => {
    await using endpoint = await startPollEndpoint({ onPoll, onFrame: (_frame, response) => accept(response) });
    const { output } = await run("waiting", endpoint.baseUrl);
    expect(output).toBe("relay_timeout unknown\n");
  });
});

async function run(state: string, baseUrl: string): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, "agent-process.ts");
  const child = spawn(process.execPath, ["--conditions=human-plus-source", script, state, baseUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  return { code, output };
}
