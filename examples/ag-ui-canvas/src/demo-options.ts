import { parseArgs } from "node:util";

export type DemoOptions =
  | { readonly mode: "help" }
  | { readonly mode: "serve"; readonly port: number }
  | { readonly mode: "headless"; readonly screenshots: string | undefined };

/** Flags that cannot be used. The message is for whoever typed them. */
export class DemoOptionsError extends Error {
  override readonly name = "DemoOptionsError";
}

export const help = `Usage: npm run demo:ag-ui -- [options]

Starts a relay, a page with a shared canvas, a chat beside it, and an AG-UI endpoint whose agent works on the canvas, all
on this machine, and prints the addresses. Ctrl-C ends it.

  --port NUMBER        port of the pages (default: a free one)
  --headless           run the whole scenario in Chromium without a window, and check it
  --screenshots DIR    with --headless: write pictures of the pages into this directory
  --help               show this

Exit codes of --headless: 0 all expectations hold, 1 one does not, 2 wrong flags, 3 there is no Chromium.`;

/** @throws DemoOptionsError */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { port, headless, screenshots, help } = parse(args);
  if (help) return { mode: "help" };
  if (screenshots !== undefined && !headless) throw new DemoOptionsError("--screenshots belongs to --headless");
  if (port !== undefined && headless)
    throw new DemoOptionsError("--port belongs to the pages that stay open: not to --headless");
  if (headless) return { mode: "headless", screenshots };
  return { mode: "serve", port: port === undefined ? 0 : readPort(port) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        port: { type: "string" },
        headless: { type: "boolean", default: false },
        screenshots: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new DemoOptionsError((error as Error).message, { cause: error });
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new DemoOptionsError("--port should be a number from 0 to 65535");
}
