import { encode } from "../bounded-json.ts";
import { isIdentifier } from "../identifier.ts";
import type { TurnPosition } from "./turn-mapper.ts";

/** Where a reader is: a cursor of the source, which the source signs, and what a mapper has to know to go on. */
export interface ReplayCursor {
  /** Nothing is the beginning. */
  readonly after: string | undefined;
  readonly position: TurnPosition | undefined;
}

/** Room for the position, in base64. */
export const CURSOR_OVERHEAD = 300;

export function formatCursor(after: string, { messages, thoughts, isShown, open = "" }: TurnPosition): string {
  const bytes = encode(JSON.stringify([after, messages, thoughts, isShown, open]));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** @returns nothing if it is no cursor of ours. Whoever changes one spoils the ids of their own stream, and no more. */
export function parseCursor(text: string): ReplayCursor | undefined {
  if (text === "") return { after: undefined, position: undefined };
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (!Array.isArray(value) || value.length !== 5) return undefined;
    const [after, messages, thoughts, isShown, open] = value as unknown[];
    if (typeof after !== "string" || after === "" || !isCount(messages) || !isCount(thoughts)) return undefined;
    if (typeof isShown !== "boolean" || (open !== "" && !isIdentifier(open))) return undefined;
    return { after, position: { messages, thoughts, isShown, ...(open === "" ? {} : { open }) } };
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
