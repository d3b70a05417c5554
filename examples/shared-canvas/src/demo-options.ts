import { type CommonOptions, commonFlags, FlagsError, parseFlags, readCommonFlags } from "./flags.ts";

export type DemoOptions =
  | CommonOptions
  | { readonly mode: "join"; readonly shareLink: string; readonly name: string; readonly color: string };

export const help = `Usage: npm run demo -- [options]

Starts a relay and a page with a shared canvas, both on this machine, prints the page's address, and lets an agent in
as soon as a browser has opened the page. Ctrl-C ends it.

  --port NUMBER        port of the page (default: a free one)
  --join LINK          join a page that runs already, by its share link, instead of starting one
  --name NAME          with --join: the agent's name (default: Guest)
  --color COLOUR       with --join: the agent's colour, as #rgb or #rrggbb (default: #b4451f)
  --headless           run the whole scenario in Chromium without a window, and check it
  --screenshots DIR    with --headless: write pictures of the page into this directory
  --help               show this

Exit codes of --headless: 0 all expectations hold, 1 one does not, 2 wrong flags, 3 there is no Chromium.`;

/** @throws FlagsError */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { join, name, color, ...common } = parseFlags(args, {
    ...commonFlags,
    join: { type: "string" },
    name: { type: "string" },
    color: { type: "string" },
  });
  if (common.help) return { mode: "help" };
  if (join === undefined && (name ?? color) !== undefined) throw new FlagsError("--name and --color belong to --join");
  if (join === undefined) return readCommonFlags(common);
  if (common.headless) throw new FlagsError("--join and --headless exclude each other");
  if (common.port !== undefined) throw new FlagsError("--port belongs to pages that stay open: not to --join");
  if (common.screenshots !== undefined) throw new FlagsError("--screenshots belongs to --headless");
  return { mode: "join", shareLink: join, name: name ?? "Guest", color: color ?? "#b4451f" };
}
