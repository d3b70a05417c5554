import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { faults } from "./faults/index.ts";
import { plantFault } from "./plant-fault.ts";
import type { CheckResult } from "./property.ts";

const { values } = parseArgs({
  options: {
    /** How many stories to try. */
    runs: { type: "string", default: "5000" },
    /** Tries the same stories again. */
    seed: { type: "string" },
    /** The name of a fault to plant. */
    fault: { type: "string" },
    /** In how many processes; 0: as many as there are processors. */
    workers: { type: "string", default: "1" },
    /** Prints the result as JSON. */
    json: { type: "boolean", default: false },
  },
});

const workers = Number(values.workers) || availableParallelism();
const start = performance.now();
const results = workers > 1 ? await spread(Number(values.runs), workers) : [await check()];
const broken = results.find(({ story }) => story !== undefined);
if (values.json) console.log(JSON.stringify(broken ?? results[0]));
else {
  const runs = results.reduce((sum, result) => sum + result.runs, 0);
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  console.log(broken?.story ?? "Every promise was kept.");
  console.log(`${runs} runs in ${seconds} s, seed ${(broken ?? results[0])?.seed}`);
}
process.exitCode = broken === undefined ? 0 : 1;

async function check(): Promise<CheckResult> {
  if (values.fault !== undefined) {
    const fault = faults.find(({ name }) => name === values.fault);
    if (fault === undefined) throw new Error(`there is no fault ${JSON.stringify(values.fault)}`);
    plantFault(fault);
  }
  // Only now: what is imported before a fault is planted does not have it.
  const { checkTwoWriters } = await import("./property.ts");
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  return checkTwoWriters({ runs: Number(values.runs), seed });
}

function spread(runs: number, processes: number): Promise<CheckResult[]> {
  const share = Math.ceil(runs / processes);
  return Promise.all(Array.from({ length: processes }, () => startWorker(share)));
}

function startWorker(runs: number): Promise<CheckResult> {
  const flags = [...process.execArgv, import.meta.filename, "--json", "--runs", `${runs}`];
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
        reject(new Error(`a worker ended after ${JSON.stringify(output)}`, { cause }));
      }
    });
  });
}
