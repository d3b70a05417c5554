import { createHash } from "node:crypto";
import { HumanPlusError } from "@human-plus/core";
import { invalid } from "./argument.ts";
import type { ToolAddress } from "./tool-address.ts";

/** Names a surface's tool for the host: 1 to 64 of `[A-Za-z0-9_-]`, another one for each tool, the same one each time. */
export type Naming = (address: ToolAddress) => string;

/** What every provider of the host takes. */
const PROVIDER_SAFE = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAME = 64;
const MAX_SURFACE_PART = 24;
/** Leaves a tool 24 characters of its own. */
const PREFIX = /^[A-Za-z0-9_-]{0,40}$/;
/** Looks as if it had been made by `part`, so that no name can be chosen to collide with one that was. */
const MADE = /(?:^|-)[0-9a-f]{8}$/;

/**
 * `surface_<surfaceId>_`. An id that is longer than 24 characters, or has others than `[A-Za-z0-9-]`, is shortened and
 * told apart by a digest; the underscore is one of these, so that no other surface's tool can have a name that begins so.
 */
export function defaultPrefix(surfaceId: string): string {
  return `surface_${part(surfaceId, MAX_SURFACE_PART, /[^A-Za-z0-9-]+/gu, "-")}_`;
}

/** @throws HumanPlusError `invalid_argument` */
export function assertPrefix(name: string, prefix: unknown): void {
  if (typeof prefix !== "string" || !PREFIX.test(prefix))
    throw invalid(name, "at most 40 of A-Z, a-z, 0-9, _ and -", prefix);
}

export interface NamesOptions {
  surfaceId: string;
  prefix: string;
  naming: Naming | undefined;
  /** Names of tools of this package. */
  reserved: readonly string[];
}

/**
 * The host's name of each tool. It depends on the tool's own name and on the options, never on what else is offered.
 *
 * @throws HumanPlusError `invalid_argument` for what `naming` gave, `catalogue_refused` where two tools of a surface would share a name
 */
export function nameTools(tools: readonly string[], options: NamesOptions): ReadonlyMap<string, string> {
  const { surfaceId, prefix, naming, reserved } = options;
  const code = naming === undefined ? "catalogue_refused" : "invalid_argument";
  const toolOf = new Map<string, string>(reserved.map((name) => [name, "a tool of the adapter"]));
  const names = new Map<string, string>();
  for (const tool of [...tools].sort()) {
    const name = naming?.({ surfaceId, tool }) ?? defaultName(tool, prefix, reserved);
    if (typeof name !== "string" || !PROVIDER_SAFE.test(name)) {
      const what = "naming should give 1 to 64 of A-Z, a-z, 0-9, _ and -";
      throw new HumanPlusError("invalid_argument", `${what}; for ${quote(tool)} it gave ${quote(name)}`);
    }
    const other = toolOf.get(name);
    if (other !== undefined) {
      throw new HumanPlusError(code, `two tools would be named ${name}: ${quote(other)} and ${quote(tool)}`);
    }
    toolOf.set(name, tool);
    names.set(tool, name);
  }
  return names;
}

function defaultName(tool: string, prefix: string, reserved: readonly string[]): string {
  const room = MAX_NAME - prefix.length;
  const name = prefix + part(tool, room, /[^A-Za-z0-9_-]+/gu, "_");
  return reserved.includes(name) ? prefix + made(tool, room, "") : name;
}

/** A text as part of a name: as it is where it can be, else what is left of it and a digest of all of it. */
function part(text: string, maxLength: number, unsafe: RegExp, filler: string): string {
  const safe = text.replace(unsafe, filler);
  return safe === text && text !== "" && text.length <= maxLength && !MADE.test(text)
    ? text
    : made(text, maxLength, safe);
}

function made(text: string, maxLength: number, safe: string): string {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  const head = safe.slice(0, maxLength - digest.length - 1).replace(/^[-_]+|[-_]+$/g, "");
  return head === "" ? digest : `${head}-${digest}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 160 ? text : `${text.slice(0, 160)}…`;
}
