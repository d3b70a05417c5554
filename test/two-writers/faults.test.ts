import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faults } from "./faults/index.ts";
import { withFault } from "./plant-fault.ts";
import type { CheckResult } from "./property.ts";

/** Most are found in the first hundred; a run takes 2 ms. */
const MAX_RUNS = 10_000;

/** Runs the property test in a process that has loaded the fault. */
function checkWithFault(name: string): Promise<CheckResult> {
  const script = join(import.meta.dirname, "run.ts");
  const flags = ["--conditions=human-plus-source", script, "--json", "--runs", `${MAX_RUNS}`, "--fault", name];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      try {
        resolve(JSON.parse(output));
      } catch (cause) {
        reject(new Error(`the process ended after ${JSON.stringify(output)}`, { cause }));
      }
    });
  });
}

describe.each(faults)('with the fault "$name"', (fault) => {
  test("still fits the source", () => {
    expect(withFault(fault)).toContain(fault.replace);
  });

  test("the property test fails, and its story names the fault", async () => {
    const { story, promise } = await checkWithFault(fault.name);
    expect(promise, story).toBe(fault.breaks);
    expect(story?.split("\n").at(-1)).toMatch(fault.story);
  }, 120_000);
});
