import { HumanPlusError } from "@human-plus/core";
import { DemoOptionsError, help, parseDemoOptions } from "./demo-options.ts";
import { MissingBrowserError } from "./headless/browser.ts";
import { runHeadless } from "./headless/run-headless.ts";
import { joinPage } from "./join-page.ts";
import { serveDemo } from "./serve-demo.ts";
import { createTranscript } from "./transcript.ts";

const transcript = createTranscript((text) => process.stdout.write(text));

/** Exit code for each way in which the demo ends. */
const exitCodes = { failed: 1, flags: 2, noBrowser: 3 } as const;

try {
  const options = parseDemoOptions(process.argv.slice(2));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  switch (options.mode) {
    case "help":
      process.stdout.write(`${help}\n`);
      break;
    case "serve":
      await serveDemo({ ...options, transcript, signal: stop.signal });
      break;
    case "join":
      await joinPage({ ...options, transcript, signal: stop.signal });
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

function codeOf(error: unknown): number {
  if (error instanceof DemoOptionsError) return exitCodes.flags;
  return error instanceof MissingBrowserError ? exitCodes.noBrowser : exitCodes.failed;
}

function describe(error: unknown): string {
  if (error instanceof DemoOptionsError) return `${error.message}\nTry: npm run demo -- --help`;
  if (error instanceof MissingBrowserError) return error.message;
  if (error instanceof HumanPlusError) return `${error.code}: ${error.message}`;
  const { code, port } = error as { code?: unknown; port?: unknown };
  if (code === "EADDRINUSE") return `Port ${port} is taken. Choose another one with --port, or leave it out.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
