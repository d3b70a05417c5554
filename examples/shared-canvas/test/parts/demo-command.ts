import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { chromiumPath, installCommand } from "../../src/headless/browser.ts";

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** The command of a demo, as a process of its own. */
export type DemoCommand = (args: readonly string[], env?: Record<string, string>) => Promise<Ended>;

/** @param script the file that the command runs */
export function demoCommand(script: string): DemoCommand {
  return (args, env = {}) =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        ["--conditions=human-plus-source", script, ...args],
        { env: { ...process.env, NO_COLOR: "1", ...env } },
        (_error, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
      );
    });
}

/** Plays the scenario of a demo in Chromium, where there is one, and looks for lines of its transcript. */
export function testScenario(title: string, runDemo: DemoCommand, lines: readonly string[]): void {
  const needsChromium = chromiumPath() === undefined ? ` (skipped: needs Chromium, ${installCommand})` : "";
  test.skipIf(needsChromium !== "")(`${title}${needsChromium}`, { timeout: 120_000 }, async () => {
    const { code, output } = await runDemo(["--headless"]);
    expect(output).not.toMatch(/^ *FAILED/m);
    expect(code, output).toBe(0);
    for (const line of lines) expect(output).toContain(line);
  });

  test("without Chromium the headless demo says how to install it, with an exit code of its own", async () => {
    const { code, output } = await runDemo(["--headless"], { CHROMIUM_PATH: "/nowhere/chromium" });
    expect(output).toContain(installCommand);
    expect(code).toBe(3);
  });
}

const secret = "secret-of-the-session";
/** As somebody pastes it, perhaps in the wrong place. */
export const secretLink = `http://127.0.0.1:1/x?token=${secret}`;

export interface FlagsOfDemo {
  readonly runDemo: DemoCommand;
  /** As it was started, for hints. */
  readonly command: string;
  readonly parse: (args: readonly string[]) => unknown;
  /** Wrong command lines of this demo alone, and what is said of each. */
  readonly wrong: ReadonlyArray<readonly [readonly string[], string]>;
}

export function testWrongFlags({ runDemo, command, parse, wrong }: FlagsOfDemo): void {
  test.each([
    ...wrong,
    [["--port", "seven"], "--port should be a number from 0 to 65535"],
    [["--port"], "--port needs a value"],
    [["--port", "--headless"], "--port needs a value"],
    [["--port", "4000", "--headless"], "--port belongs to pages that stay open: not to --headless"],
    [["--prot", "7"], "--prot is not known"],
    [["--screenshots", "out"], "--screenshots belongs to --headless"],
    [["--help=yes"], "--help takes no value"],
    [[secretLink], "every value needs its flag"],
    [["--headless", secretLink], "every value needs its flag"],
    [[`--${secretLink}`], "the flag is not known"],
    [[`--jion=${secretLink}`], "--jion is not known"],
    [[`--headless=${secretLink}`], "--headless takes no value"],
    [["--port", secretLink], "--port should be a number from 0 to 65535"],
  ] as const)("the flags %j are refused in one line, which shows no token", (args, message) => {
    expect(() => parse(args)).toThrow(expect.objectContaining({ name: "FlagsError", message }));
  });

  test("wrong flags end the demo with where to look, and an exit code of its own", async () => {
    const { code, output } = await runDemo(["--port", "1", secretLink]);
    expect(output).toBe(`every value needs its flag\nTry: ${command} -- --help\n`);
    expect(code).toBe(2);
  });
}
