import { parseArgs } from "node:util";
import { Invitation } from "@human-plus/core";
import { type JsonObject, parseJsonText, safeParseToolName, shareLinks } from "@human-plus/core/protocol";
import type { Level } from "../outcome.ts";
import type { ToolCall } from "../surface-checks/surface-probe.ts";
import { type TransportName, transportNames } from "../transports.ts";

/** How the report is printed. */
type Format = "table" | "json" | "junit";

/** A command line that was understood. */
export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | ({
      readonly kind: "surface";
      readonly invitation: Invitation;
      readonly transport: TransportName;
      readonly read: ToolCall | undefined;
      readonly observeMs: number | undefined;
      readonly probeWrite: ToolCall | undefined;
    } & Shared)
  | ({ readonly kind: "relay"; readonly baseUrl: string; readonly origin: string | undefined } & Shared);

interface Shared {
  readonly format: Format;
  readonly level: Level;
  readonly timeoutMs: number;
  readonly local: boolean;
}

/** What is wrong with the command line, in words for its user. It never quotes a link. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const LEVELS: readonly Level[] = ["must", "should", "optional"];
const SURFACE_ONLY = ["transport", "read", "observe", "probe-write", "mount"];

/** @throws UsageError */
export function readCommand(args: readonly string[]): Command {
  const { rest, calls } = takeCalls(args);
  const { values, positionals } = parse(rest);
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const [subject, target, ...more] = positionals;
  if (subject !== "surface" && subject !== "relay")
    throw new UsageError(
      subject === undefined ? "say what to check: surface or relay" : "the first word is surface or relay",
    );
  if (target === undefined)
    throw new UsageError(`${subject} takes ${subject === "surface" ? "a share link" : "a relay base URL"}`);
  if (more.length > 0) throw new UsageError(`${subject} takes one address, and ${more.length} more words were given`);
  const shared = readShared(values);
  if (subject === "relay") {
    const given = new Set([...Object.keys(values), ...calls.keys()]);
    const wrong = SURFACE_ONLY.find((name) => given.has(name));
    if (wrong !== undefined) throw new UsageError(`--${wrong} is for surfaces`);
    assertAddress(target, shared.local, "the relay base URL");
    return { kind: "relay", baseUrl: target, origin: readOrigin(values.origin), ...shared };
  }
  if (values.origin !== undefined) throw new UsageError("--origin is for relays");
  return {
    kind: "surface",
    invitation: readLink(target, values.mount, shared.local),
    transport: readTransport(values.transport),
    read: calls.get("read"),
    observeMs: values.observe === undefined ? undefined : readCount("--observe", values.observe) * 1_000,
    probeWrite: calls.get("probe-write"),
    ...shared,
  };
}

/** Takes out `--read` and `--probe-write`, which have a value or two each. */
function takeCalls(args: readonly string[]): { rest: string[]; calls: Map<string, ToolCall> } {
  const rest: string[] = [];
  const calls = new Map<string, ToolCall>();
  for (let index = 0; index < args.length; index++) {
    const flag = args[index] ?? "";
    const name = flag.slice(2);
    if (name !== "read" && name !== "probe-write") {
      rest.push(flag);
      continue;
    }
    const tool = args[++index];
    if (tool === undefined || !safeParseToolName(tool).ok) throw new UsageError(`${flag} takes the name of a tool`);
    const next = args[index + 1]?.trim();
    const hasArguments = next?.startsWith("{") ?? false;
    if (hasArguments) index++;
    else if (name === "probe-write") throw new UsageError(`${flag} takes a tool and its arguments as a JSON object`);
    if (calls.has(name)) throw new UsageError(`${flag} is given twice`);
    calls.set(name, { name: tool, args: hasArguments ? readObject(flag, next ?? "") : {} });
  }
  return { rest, calls };
}

function parse(args: string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: flag,
        junit: flag,
        local: flag,
        "allow-loopback-http": flag,
        help: { ...flag, short: "h" },
        version: flag,
        transport: text,
        level: text,
        "timeout-ms": text,
        mount: text,
        observe: text,
        origin: text,
      },
    });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(message.split(". ")[0] ?? message, { cause });
  }
}

function readShared(values: ReturnType<typeof parse>["values"]): Shared {
  if (values.json === true && values.junit === true) throw new UsageError("--json and --junit: take one of them");
  const level = LEVELS.find((name) => name === (values.level ?? "optional"));
  if (level === undefined) throw new UsageError(`--level takes one of ${LEVELS.join(", ")}`);
  return {
    format: values.json === true ? "json" : values.junit === true ? "junit" : "table",
    level,
    timeoutMs: values["timeout-ms"] === undefined ? 10_000 : readCount("--timeout-ms", values["timeout-ms"]),
    local: values.local === true || values["allow-loopback-http"] === true,
  };
}

function readTransport(given = "sse"): TransportName {
  const name = transportNames.find((known) => known === given);
  if (name === undefined) throw new UsageError(`--transport takes one of ${transportNames.join(", ")}`);
  return name;
}

function readCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a positive whole number`);
}

function readObject(flag: string, text: string): JsonObject {
  const parsed = parseJsonText(text, 65_536);
  if (parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value))
    return parsed.value as JsonObject;
  throw new UsageError(`${flag} takes arguments as a JSON object, in quotation marks of the shell`);
}

function readOrigin(origin: string | undefined): string | undefined {
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).origin === origin)) return origin;
  throw new UsageError("--origin takes scheme, host and port only, such as https://app.example");
}

function readLink(link: string, mount: string = shareLinks.mount, local: boolean): Invitation {
  let invitation: Invitation;
  try {
    invitation = Invitation.fromLink(link, { surfaceId: "surface", application: "conformance", mount });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : "the share link is none", { cause });
  }
  assertAddress(invitation.relayBaseUrl, local, "the share link");
  return invitation;
}

function assertAddress(address: string, local: boolean, what: string): void {
  if (!URL.canParse(address)) throw new UsageError(`${what} should be an absolute URL`);
  const { protocol, hostname, search, hash, username } = new URL(address);
  if (search !== "" || hash !== "" || username !== "")
    throw new UsageError(`${what} should have no credentials, query or fragment`);
  if (protocol === "https:") return;
  const isLoopback = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  if (protocol === "http:" && isLoopback && local) return;
  if (protocol === "http:" && isLoopback)
    throw new UsageError(`${what} is plain http: for work on this machine, add --local`);
  throw new UsageError(`${what} should use https`);
}
