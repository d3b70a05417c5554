import { HumanPlusError } from "@human-plus/core";
import { FlagsError } from "./flags.ts";
import { MissingBrowserError } from "./headless/browser.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

/** What every mode of a demo works with. */
export interface DemoContext {
  readonly transcript: Transcript;
  /** Ends it early: somebody pressed Ctrl-C. */
  readonly signal: AbortSignal;
}

/** What serves pages until it is stopped works with. */
export interface ServeOptions extends DemoContext {
  /** Port of the pages; `0` takes a free one. */
  readonly port: number;
}

export interface Demo<Options extends { readonly mode: string }> {
  /** How it was started, for hints. */
  readonly command: string;
  readonly help: string;
  /** @throws FlagsError */
  readonly parse: (args: readonly string[]) => Options | { readonly mode: "help" };
  /** What each mode does. One that gives back `false` did not find what it expected. */
  readonly modes: {
    readonly [Mode in Exclude<Options["mode"], "help">]: (
      options: Extract<Options, { readonly mode: Mode }> & DemoContext,
    ) => Promise<unknown>;
  };
}

/** Exit code for each way in which a demo ends. */
const exitCodes = { failed: 1, flags: 2, noBrowser: 3 } as const;

/** Runs a demo as a command: prints what it does, says in plain words why it ended, and sets the exit code. */
export async function runDemo<Options extends { readonly mode: string }>(demo: Demo<Options>): Promise<void> {
  const transcript = createTranscript((text) => process.stdout.write(text));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    const holds = await start(demo, { transcript, signal: stop.signal });
    if (!holds) process.exitCode = exitCodes.failed;
  } catch (error) {
    const hint = error instanceof FlagsError ? `\nTry: ${demo.command} -- --help` : "";
    process.stderr.write(`${describeError(error)}${hint}\n`);
    process.exitCode = codeOf(error);
  }
}

async function start<Options extends { readonly mode: string }>(
  { help, parse, modes }: Demo<Options>,
  context: DemoContext,
): Promise<boolean> {
  const options = parse(process.argv.slice(2));
  if (options.mode === "help") {
    process.stdout.write(`${help}\n`);
    return true;
  }
  const run = modes[options.mode as keyof typeof modes] as (options: object) => Promise<unknown>;
  return (await run({ ...options, ...context })) !== false;
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
