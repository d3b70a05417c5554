import { parseArgs } from "node:util";

export type DemoOptions =
  | { readonly mode: "help" }
  | { readonly mode: "serve"; readonly port: number }
  | { readonly mode: "headless"; readonly screenshots: string | undefined }
  | { readonly mode: "join"; readonly shareLink: string; readonly name: string; readonly color: string };

/** Flags that cannot be used. The message is for whoever typed them. */
export class DemoOptionsError extends Error {
  override readonly name = "DemoOptionsError";
}

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

/** @throws DemoOptionsError */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const { port, join, name, color, headless, screenshots, help } = parse(args);
  if (help) return { mode: "help" };
  if (join !== undefined && headless) throw new DemoOptionsError("--join and --headless exclude each other");
  if (join === undefined && (name ?? color) !== undefined)
    throw new DemoOptionsError("--name and --color belong to --join");
  if (screenshots !== undefined && !headless) throw new DemoOptionsError("--screenshots belongs to --headless");
  if (port !== undefined && (join !== undefined || headless))
    throw new DemoOptionsError("--port belongs to the page that stays open: not to --join, not to --headless");
  if (join !== undefined) return { mode: "join", shareLink: join, name: name ?? "Guest", color: color ?? "#b4451f" };
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
        join: { type: "string" },
        name: { type: "string" },
        color: { type: "string" },
        headless: { type: "boolean", default: false },
        screenshots: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    // An argument may be a share link with its token: only the first sentence, which names the flag, is shown.
    const [sentence = "wrong flags"] = (error as Error).message.split(/[.']\s/);
    throw new DemoOptionsError(/^Unexpected argument/.test(sentence) ? "every value needs its flag" : sentence, {
      cause: error,
    });
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new DemoOptionsError("--port should be a number from 0 to 65535");
}
