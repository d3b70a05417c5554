import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumPath, installCommand } from "../src/headless/browser.ts";

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
  `people and agents share the canvas in a real browser${needsChromium}`,
  { timeout: 120_000 },
  async () => {
    const { code, output } = await runDemo(["--headless"]);
    expect(output).not.toMatch(/^ *FAILED/m);
    expect(code, output).toBe(0);
    for (const line of [
      "the page lists Tidy among the participants",
      "You      drag Museums away, between two turns",
      "Tidy     leaves Museums alone: a person moved it",
      "without a refusal before",
      "You      drag Budget away, with the mouse",
      "is refused (surface_changed_under_you): nothing was written to Budget",
      "leaves Budget alone: a person moved it",
      "the dragged card lies where the person put it",
      "the agent went on around them",
      "and not one byte: no initialize, no tools/list",
      "a click deletes the card",
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
  [["--join", "http://127.0.0.1:1/x?token=secret-of-the-session", "--headless"], "exclude each other"],
  [["http://127.0.0.1:1/x?token=secret-of-the-session"], "every value needs its flag"],
])("refuses the flags %j in one line, and shows no token", async (args, message) => {
  const { code, output } = await runDemo(args);
  expect(output).toContain(message);
  expect(output).toContain("--help");
  expect(output).not.toContain("secret-of-the-session");
  expect(code).toBe(2);
});

test("says clearly that a link leads nowhere", async () => {
  const { code, output } = await runDemo(["--join", "http://127.0.0.1:9/agent-relay/abcdefgh?token=0123456789abcdef"]);
  expect(output).toMatch(/^[a-z_]+: /m);
  expect(output).not.toContain("0123456789abcdef");
  expect(code).toBe(1);
});
