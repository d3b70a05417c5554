import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumPath, installCommand } from "../../shared-canvas/src/headless/browser.ts";

const demo = join(import.meta.dirname, "../src/demo.ts");

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function runDemo(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--conditions=human-plus-source", demo, ...args],
      { env: { ...process.env, NO_COLOR: "1", ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
    );
  });
}

const needsChromium = chromiumPath() === undefined ? ` (skipped: needs Chromium, ${installCommand})` : "";

test.skipIf(needsChromium !== "")(
  `a person talks with an agent that works on the canvas, and decides, in a real browser${needsChromium}`,
  { timeout: 120_000 },
  async () => {
    const { code, output } = await runDemo(["--headless"]);
    expect(output).not.toMatch(/^ *FAILED/m);
    expect(code, output).toBe(0);
    for (const line of [
      "the chat shows each step, and how it ended",
      "the dragged card lies where the person put it",
      "the surface's activity shows it in the chat",
      "it was deleted once",
      "the chat goes on by itself",
      "and nothing was proposed afterwards",
      "the browser had nothing to complain about",
    ])
      expect(output).toContain(line);
  },
);

test("without Chromium the headless demo says how to install it, with an exit code of its own", async () => {
  const { code, output } = await runDemo(["--headless"], { CHROMIUM_PATH: "/nowhere/chromium" });
  expect(output).toContain(installCommand);
  expect(code).toBe(3);
});

test.each([
  [["--port", "seven"], "--port should be a number from 0 to 65535"],
  [["--prot", "7"], "--prot"],
  [["--screenshots", "out"], "--screenshots belongs to --headless"],
  [["--port", "4000", "--headless"], "not to --headless"],
])("refuses the flags %j and says where to look", async (args, message) => {
  const { code, output } = await runDemo(args);
  expect(output).toContain(message);
  expect(output).toContain("--help");
  expect(code).toBe(2);
});
