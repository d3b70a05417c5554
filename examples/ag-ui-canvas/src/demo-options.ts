import { type CommonOptions, commonFlags, parseFlags, readCommonFlags } from "../../shared-canvas/src/flags.ts";

export const help = `Usage: npm run demo:ag-ui -- [options]

Starts a relay, a page with a shared canvas, a chat beside it, and an AG-UI endpoint whose agent works on the canvas, all
on this machine, and prints the addresses. Ctrl-C ends it.

  --port NUMBER        port of the pages (default: a free one)
  --headless           run the whole scenario in Chromium without a window, and check it
  --screenshots DIR    with --headless: write pictures of the pages into this directory
  --help               show this

Exit codes of --headless: 0 all expectations hold, 1 one does not, 2 wrong flags, 3 there is no Chromium.`;

/** @throws FlagsError */
export function parseDemoOptions(args: readonly string[]): CommonOptions {
  return readCommonFlags(parseFlags(args, commonFlags));
}
