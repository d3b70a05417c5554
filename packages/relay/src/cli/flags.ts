import { parseArgs } from "node:util";

/** A flag, without its dashes. */
type FlagName =
  | "port"
  | "host"
  | "prefix"
  | "cors"
  | "ttl-ms"
  | "max-sessions"
  | "max-clients"
  | "max-legs"
  | "max-connections"
  | "max-frame-bytes"
  | "max-in-flight"
  | "max-stalled-bytes"
  | "queue-frames"
  | "queue-bytes"
  | "queue-age-ms"
  | "request-timeout-ms"
  | "drain-ms"
  | "log-level"
  | "no-metrics"
  | "help"
  | "version";

/** One flag of the command line. Its environment variable is `HUMAN_PLUS_RELAY_` and the flag in capitals. */
export interface Flag {
  readonly name: FlagName;
  /** What the value is; a `switch` has none. */
  readonly kind: "text" | "count" | "port" | "list" | "switch" | "level";
  readonly help: string;
  /** As the help shows it. */
  readonly otherwise: string;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** All flags, in the order of the help. */
export const flagList: readonly Flag[] = [
  { name: "port", kind: "port", help: "port to listen on; 0 takes a free one", otherwise: "8787" },
  { name: "host", kind: "text", help: "address to listen on", otherwise: "127.0.0.1" },
  { name: "prefix", kind: "text", help: "path the relay is mounted at", otherwise: "/agent-relay" },
  { name: "cors", kind: "list", help: 'origins of browsers, with commas between, or "*"', otherwise: "none" },
  { name: "ttl-ms", kind: "count", help: "life of a session that nobody uses", otherwise: "3600000" },
  { name: "max-sessions", kind: "count", help: "sessions at one time", otherwise: "10000" },
  { name: "max-clients", kind: "count", help: "clients of one session", otherwise: "1000" },
  { name: "max-legs", kind: "count", help: "streams and polls of one client", otherwise: "16" },
  { name: "max-connections", kind: "count", help: "connections at one time", otherwise: "no bound" },
  { name: "max-frame-bytes", kind: "count", help: "bytes of one frame", otherwise: "262144" },
  { name: "max-in-flight", kind: "count", help: "unanswered requests of one session", otherwise: "1000" },
  { name: "max-stalled-bytes", kind: "count", help: "what may come for a stalled stream", otherwise: "262144" },
  { name: "queue-frames", kind: "count", help: "frames kept for one reader", otherwise: "256" },
  { name: "queue-bytes", kind: "count", help: "bytes kept for one reader", otherwise: "1048576" },
  { name: "queue-age-ms", kind: "count", help: "how long a frame is kept", otherwise: "60000" },
  { name: "request-timeout-ms", kind: "count", help: "how long one request may take to arrive", otherwise: "10000" },
  { name: "drain-ms", kind: "count", help: "how long SIGTERM waits for answers", otherwise: "5000" },
  { name: "log-level", kind: "level", help: logLevels.join(", "), otherwise: "info" },
  { name: "no-metrics", kind: "switch", help: "the metrics route answers 404", otherwise: "off" },
  { name: "help", kind: "switch", help: "show this", otherwise: "" },
  { name: "version", kind: "switch", help: "show the version", otherwise: "" },
];

/** Values of the flags that were given, as text; a flag beats its environment variable. */
export type FlagTexts = ReadonlyMap<FlagName, string>;

/** What is wrong with the command line, in words for its user. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function environmentName(flag: string): string {
  return `HUMAN_PLUS_RELAY_${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** @throws UsageError for a flag that is unknown, has no value, or has one it does not take */
export function readFlags(args: readonly string[], environment: NodeJS.ProcessEnv): FlagTexts {
  const texts = new Map<FlagName, string>();
  const given = parse(args);
  for (const { name, kind } of flagList) {
    const variable = environmentName(name);
    const inArguments = given[name];
    const inEnvironment = environment[variable];
    if (inArguments !== undefined) texts.set(name, checkText(`--${name}`, kind, String(inArguments)));
    else if (inEnvironment !== undefined && inEnvironment !== "" && name !== "help" && name !== "version") {
      texts.set(name, checkText(variable, kind, inEnvironment));
    }
  }
  for (const [name, text] of texts) if (kindOf(name) === "switch" && text === "false") texts.delete(name);
  return texts;
}

function parse(args: readonly string[]): { readonly [name: string]: string | boolean | undefined } {
  const options = Object.fromEntries(
    flagList.map(({ name, kind }) => [name, { type: kind === "switch" ? "boolean" : "string" } as const]),
  );
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(message.split(". ")[0] ?? message, { cause });
  }
}

function kindOf(name: FlagName): Flag["kind"] | undefined {
  return flagList.find((flag) => flag.name === name)?.kind;
}

function checkText(where: string, kind: Flag["kind"], text: string): string {
  const value = JSON.stringify(text);
  switch (kind) {
    case "count":
      if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError(`${where} takes a positive integer, not ${value}`);
      return text;
    case "port":
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
        throw new UsageError(`${where} takes a port from 0 to 65535, not ${value}`);
      }
      return text;
    case "level":
      if (!logLevels.some((level) => level === text)) {
        throw new UsageError(`${where} takes one of ${logLevels.join(", ")}, not ${value}`);
      }
      return text;
    case "switch":
      if (text !== "true" && text !== "false") throw new UsageError(`${where} takes true or false, not ${value}`);
      return text;
    case "text":
    case "list":
      if (text.trim() === "") throw new UsageError(`${where} is empty`);
      return text;
    default:
      return kind satisfies never;
  }
}
