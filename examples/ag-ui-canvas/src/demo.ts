import { setTimeout as sleep } from "node:timers/promises";
import { HumanPlusError } from "@human-plus/core";
import { MissingBrowserError } from "../../shared-canvas/src/headless/browser.ts";
import { createTranscript, type Transcript } from "../../shared-canvas/src/transcript.ts";
import { untilAborted } from "../../shared-canvas/src/until-aborted.ts";
import { DemoOptionsError, help, parseDemoOptions } from "./demo-options.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { startHost } from "./start-host.ts";

const transcript = createTranscript((text) => process.stdout.write(text));

/** Exit code for each way in which the demo ends. */
const exitCodes = { failed: 1, flags: 2, noBrowser: 3 } as const;

/** Slow enough to watch, and to get in the way. */
const PAUSE_MS = 1_800;

try {
  const options = parseDemoOptions(process.argv.slice(2));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  switch (options.mode) {
    case "help":
      process.stdout.write(`${help}\n`);
      break;
    case "serve":
      await serve(options.port, transcript, stop.signal);
      break;
    case "headless":
      if (!(await runHeadless({ ...options, transcript, signal: stop.signal }))) process.exitCode = exitCodes.failed;
      break;
    default:
      options satisfies never;
  }
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = codeOf(error);
}

async function serve(port: number, { title, note }: Transcript, signal: AbortSignal): Promise<void> {
  await using host = await startHost({
    port,
    beforeMove: () => sleep(PAUSE_MS, undefined, { signal }),
    onError: (error) => note(`! ${describe(error)}`),
  });
  title("Shared canvas, with a chat");
  note(`Open this page in a browser:            ${host.pageUrl}`);
  note(`Or canvas and chat in windows apart:    ${host.pageUrl}canvas`);
  note(`                                        ${host.pageUrl}chat`);
  note("Ask Tidy to line up the cards, and drag one while it works. Ctrl-C ends it.");
  await untilAborted(signal, () => new Promise(() => undefined));
}

function codeOf(error: unknown): number {
  if (error instanceof DemoOptionsError) return exitCodes.flags;
  return error instanceof MissingBrowserError ? exitCodes.noBrowser : exitCodes.failed;
}

function describe(error: unknown): string {
  if (error instanceof DemoOptionsError) return `${error.message}\nTry: npm run demo:ag-ui -- --help`;
  if (error instanceof MissingBrowserError) return error.message;
  if (error instanceof HumanPlusError) return `${error.code}: ${error.message}`;
  const { code, port } = error as { code?: unknown; port?: unknown };
  if (code === "EADDRINUSE") return `Port ${port} is taken. Choose another one with --port, or leave it out.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
