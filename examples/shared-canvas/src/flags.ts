import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** Flags that cannot be used. The message is for whoever typed them. */
export class FlagsError extends Error {
  override readonly name = "FlagsError";
}

type Values<Flags extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Flags }>>["values"];

/**
 * Reads a command line of flags alone. What was typed may be a share link with its token: a complaint shows of it what
 * looks like a flag, and nothing else.
 *
 * @throws FlagsError
 */
export function parseFlags<const Flags extends ParseArgsOptionsConfig>(
  args: readonly string[],
  flags: Flags,
): Values<Flags> {
  const { tokens } = parseArgs({ args: [...args], options: flags, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option") throw new FlagsError("every value needs its flag");
    const { name, rawName, value, inlineValue } = token;
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    const shown = /^--?[a-z][a-z-]{0,19}$/.test(rawName) ? rawName : "the flag";
    if (flag === undefined) throw new FlagsError(`${shown} is not known`);
    if (flag.type === "boolean" && value !== undefined) throw new FlagsError(`${shown} takes no value`);
    // A flag that follows is none of its values, unless it is written as one: --name=--port.
    if (flag.type === "string" && (value === undefined || (!inlineValue && value.startsWith("-"))))
      throw new FlagsError(`${shown} needs a value`);
  }
  return parseArgs({ args: [...args], options: flags }).values;
}

/** What every demo takes. */
export const commonFlags = {
  port: { type: "string" },
  headless: { type: "boolean", default: false },
  screenshots: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const satisfies ParseArgsOptionsConfig;

export type CommonOptions =
  | { readonly mode: "help" }
  | { readonly mode: "serve"; readonly port: number }
  | { readonly mode: "headless"; readonly screenshots: string | undefined };

/** @throws FlagsError where flags exclude each other */
export function readCommonFlags({ port, headless, screenshots, help }: Values<typeof commonFlags>): CommonOptions {
  if (help) return { mode: "help" };
  if (screenshots !== undefined && !headless) throw new FlagsError("--screenshots belongs to --headless");
  if (port !== undefined && headless) throw new FlagsError("--port belongs to pages that stay open: not to --headless");
  if (headless) return { mode: "headless", screenshots };
  return { mode: "serve", port: port === undefined ? 0 : readPort(port) };
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new FlagsError("--port should be a number from 0 to 65535");
}
