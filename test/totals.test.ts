import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const reporter = join(root, "tools/test-summary/total-reporter.ts");

function run(body: string, ...args: string[]): { status: number | null; lastLine: string | undefined } {
  const directory = mkdtempSync(join(tmpdir(), "totals-"));
  try {
    const config = `import { createTotalReporter } from ${JSON.stringify(reporter)};
export default { test: { globals: true, reporters: ["default", createTotalReporter()] } };`;
    writeFileSync(join(directory, "vitest.config.mjs"), config);
    writeFileSync(join(directory, "sample.test.js"), body);
    const { status, stdout } = spawnSync(process.execPath, [vitest, "run", ...args], {
      cwd: directory,
      encoding: "utf8",
      env: { PATH: process.env.PATH },
    });
    return { status, lastLine: stdout.trimEnd().split("\n").at(-1) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const sample = `test("passes", () => {}); test.skip("is skipped", () => {});`;

test("a green run ends with its totals", () => {
  expect(run(sample)).toEqual({ status: 0, lastLine: "1 passed, 0 failed, 1 skipped" });
});

test("a failing test fails the run", () => {
  const failing = `${sample} test("fails", () => { expect(1).toBe(2); });`;
  expect(run(failing)).toEqual({ status: 1, lastLine: "1 passed, 1 failed, 1 skipped" });
});

test("a file that cannot be loaded counts as a failure", () => {
  expect(run(`throw new Error("broken");`)).toEqual({ status: 1, lastLine: "0 passed, 1 failed, 0 skipped" });
});

test("a run in which no test ran is a failed run", () => {
  expect(run(sample, "-t", "no such name")).toEqual({ status: 1, lastLine: "0 passed, 0 failed, 2 skipped" });
  expect(run(sample, "no-such-file")).toEqual({ status: 1, lastLine: "0 passed, 0 failed, 0 skipped" });
});
