import type { AgUiJson } from "./events.ts";
import type { Limits } from "./handler/limits.ts";

export type JsonObjectLike = Readonly<Record<string, unknown>>;

export type JsonBounds = Pick<Limits, "maxJsonDepth" | "maxJsonProperties" | "maxJsonArrayItems">;

/** A key or a value that no JSON may hold here, or the bound that is exceeded. */
export type JsonFault = "key" | "value" | keyof JsonBounds;

/** Keys that can reach what an object is made of. */
const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

export function isObject(value: unknown): value is JsonObjectLike {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a text is a JSON object, as arguments of a call are. */
export function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** A text, or the texts of parts; nothing if it is neither. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === "string" ? content : undefined;
  return content.map((part) => (isObject(part) && part["type"] === "text" ? textOf(part["text"]) : "")).join("");
}

/** What is wrong with a JSON value, if anything is. Properties and items are counted for each object and list by itself. */
export function jsonFault(value: unknown, bounds: JsonBounds, depth = 0): JsonFault | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "value";
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value !== "object") return "value";
  if (depth >= bounds.maxJsonDepth) return "maxJsonDepth";
  if (Array.isArray(value)) {
    if (value.length > bounds.maxJsonArrayItems) return "maxJsonArrayItems";
    return faultOfAll(value, bounds, depth);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return "value";
  const keys = Object.keys(value);
  if (keys.length > bounds.maxJsonProperties) return "maxJsonProperties";
  if (keys.some((key) => forbiddenKeys.has(key))) return "key";
  return faultOfAll(Object.values(value), bounds, depth);
}

function faultOfAll(values: readonly unknown[], bounds: JsonBounds, depth: number): JsonFault | undefined {
  for (const member of values) {
    const fault = jsonFault(member, bounds, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A copy as plain JSON, or `undefined` if it is none, or over a bound. Members that are `undefined` are left out. */
export function toJson(value: unknown, maxBytes: number, bounds: JsonBounds): AgUiJson | undefined {
  if (value instanceof Promise) {
    value.catch(() => undefined); // it would pass for {}, and nobody else hears how it fails
    return undefined;
  }
  try {
    const text = JSON.stringify(value);
    if (text === undefined || byteLength(text) > maxBytes) return undefined;
    const copy: unknown = JSON.parse(text);
    return jsonFault(copy, bounds) === undefined ? (copy as AgUiJson) : undefined;
  } catch {
    return undefined;
  }
}

const encoder = new TextEncoder();

/** UTF-8 bytes. */
export function byteLength(text: string): number {
  // Every UTF-16 unit is at most three bytes; most texts are plain and short.
  return text.length === 0 ? 0 : encoder.encode(text).length;
}

/** Chunks as one. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

export function encode(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

const ending = "… [truncated]";

/** The text if it has at most so many UTF-8 bytes, else its beginning and a mark, cut between characters. */
export function truncate(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return text;
  const mark = byteLength(ending) <= maxBytes ? ending : "";
  return `${text.slice(0, prefixLength(text, maxBytes - byteLength(mark)))}${mark}`;
}

/** How many UTF-16 units of a text have at most so many UTF-8 bytes, without half a character at the end. */
export function prefixLength(text: string, maxBytes: number): number {
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read;
}
