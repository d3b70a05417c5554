import type { Json, JsonObject } from "./load.ts";

/** Who is hurt when parties of the old and the new contract meet. */
export type Breaks = "nobody" | "senders" | "readers" | "both";

/** Who sends a value, and who reads it. */
export interface Parties {
  readonly senders: readonly string[];
  readonly readers: readonly string[];
}

/** What the comparison of two parts found, relative to those parts. */
export interface Finding {
  /** The way from the compared part to the changed one. */
  readonly keys: ReadonlyArray<string | number>;
  readonly what: string;
  readonly breaks: Breaks;
  /** Only prose changed. */
  readonly prose?: boolean;
}

/** One change of the contract, judged by PROTOCOL.md section 10. */
export interface Change {
  readonly file: string;
  /** JSON Pointer into the file; of the earlier one for what was removed. */
  readonly pointer: string;
  /** The definition, route or table it belongs to. */
  readonly subject: string;
  readonly what: string;
  readonly verdict: "breaking" | "compatible";
  readonly level: "major" | "minor" | "patch";
  /** The parties that a breaking change hurts, by their side of it. */
  readonly breaks: Parties;
  readonly parties: Parties;
}

const NOBODY: readonly string[] = [];

export interface ChangePlace {
  readonly file: string;
  readonly pointer: string;
  readonly subject: string;
  readonly parties: Parties;
}

export function toChange(place: ChangePlace, { what, breaks, prose = false }: Omit<Finding, "keys">): Change {
  const { senders, readers } = place.parties;
  return {
    ...place,
    what,
    verdict: breaks === "nobody" ? "compatible" : "breaking",
    level: breaks !== "nobody" ? "major" : prose ? "patch" : "minor",
    breaks: {
      senders: breaks === "senders" || breaks === "both" ? senders : NOBODY,
      readers: breaks === "readers" || breaks === "both" ? readers : NOBODY,
    },
  };
}

export function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** Whether two values are the same JSON, whatever the order of their keys. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(asEntries(a)[key], asEntries(b)[key]))
  );
}

function asEntries(value: Json[] | JsonObject): JsonObject {
  return value as JsonObject;
}

/** A value as a message shows it. */
export function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
