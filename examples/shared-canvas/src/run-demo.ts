import { HumanPlusError } from "@human-plus/core";
import { FlagsError } from "./flags.ts";
import { MissingBrowserError } from "./headless/browser.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

/** What a demo works with. */
export interface DemoContext {
  readonly args: readonly string[];
  readonly transcript: Transcript;
  /** Somebody pressed Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Demo {
  /** How it was started, for hints. */
  readonly command: string;
  /** Gives back whether everything that was expected holds. */
  readonly start: (context: DemoContext) => Promise<boolean>;
}

/** Exit code for each way in which a demo ends. */
const exitCodes = { failed: 1, flags: 2, noBrowser: 3 } as const;

/** Runs a demo as a command: prints what it does, says in plain words why it ended, and sets the exit code. */
export async function runDemo({ command, start }: Demo): Promise<void> {
  const transcript = createTranscript((text) => process.stdout.write(text));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    const holds = await start({ args: process.argv.slice(2), transcript, signal: stop.signal });
    if (!holds) process.exitCode = exitCodes.failed;
  } catch (error) {
    const hint = error instanceof FlagsError ? `\nTry: ${command} -- --help` : "";
    process.stderr.write(`${describeError(error)}${hint}\n`);
    process.exitCode = codeOf(error);
  }
}

function codeOf(error: unknown): number {
  if (error instanceof FlagsError) return exitCodes.flags;
  return error instanceof MissingBrowserError ? exitCodes.noBrowser : exitCodes.failed;
}

/** An error in words for whoever runs a demo. */
export function describeError(error: unknown): string {
  if (error instanceof FlagsError || error instanceof MissingBrowserError) return error.message;
  if (error instanceof HumanPlusError) return `${error.code}: ${error.message}`;
  const { code, port } = error as { code?: unknown; port?: unknown };
  if (code === "EADDRINUSE") return `Port ${port} is taken. Choose another one with --port, or leave it out.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
