import type { Parsed } from "./issue.ts";

/** The one key that can reach a prototype when a value is copied by assignment; refused wherever depth is checked. */
export const FORBIDDEN_KEY = "__proto__";

/** Whether a value nests at most `max` deep and holds no forbidden key. A scalar is 0 deep, `{}` and `[]` are 1. */
export function isShallow(value: unknown, max: number): boolean {
  return typeof value !== "object" || value === null || nestsWithin(value, max);
}

// Every byte of every frame passes here, and nothing else costs as much: each line was measured.
function nestsWithin(value: object, max: number): boolean {
  if (max <= 0) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index];
      if (typeof item === "object" && item !== null && !nestsWithin(item, max - 1)) return false;
    }
    return true;
  }
  for (const key in value) {
    // Asking every key whether it is inherited would double the cost: only what would be refused is asked.
    if (key === FORBIDDEN_KEY && Object.hasOwn(value, key)) return false;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === "object" && member !== null && !nestsWithin(member, max - 1) && Object.hasOwn(value, key))
      return false;
  }
  return true;
}

/** From this length on an encoder is faster than counting, though it writes what is only counted. */
const LONG_TEXT = 512;

/** Whether a value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Bytes of a text in UTF-8. A lone surrogate counts as the three bytes that encoders write for it. */
export function utf8Length(text: string): number {
  if (text.length >= LONG_TEXT) return new TextEncoder().encode(text).length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else {
      bytes += 2;
      if (unit >= 0xd800 && unit < 0xdc00) {
        const next = text.charCodeAt(index + 1);
        if (next >= 0xdc00 && next < 0xe000) index++;
      }
    }
  }
  return bytes;
}

/** Whether a text, or the JSON text of any other value, has at most `max` bytes in UTF-8. */
export function fitsBytes(value: unknown, max: number): boolean {
  const text = typeof value === "string" ? value : jsonText(value);
  if (text === undefined || text.length > max) return false;
  return text.length * 3 <= max || utf8Length(text) <= max;
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // a cycle, a bigint: no JSON at all
  }
}

/** Characters as JSON Schema counts them: code points. */
export function codePoints(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        length--;
        index++;
      }
    }
  }
  return length;
}

/** Whether a text has more characters than `max`. Most texts are known to be shorter without counting. */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && codePoints(text) > max;
}

/** Whether a text has fewer characters than `min`. A character is at most two code units long. */
export function isShorter(text: string, min: number): boolean {
  return text.length < min * 2 && codePoints(text) < min;
}

/** Reads JSON text of at most `maxBytes`. The message of the engine is not passed on: it quotes the text. */
export function parseJsonText(text: string, maxBytes: number): Parsed<unknown> {
  const received = `text of ${text.length} characters`;
  if (!fitsBytes(text, maxBytes)) {
    return {
      ok: false,
      issues: [{ pointer: "", rule: "x-max-bytes", expected: `at most ${maxBytes} bytes`, received }],
    };
  }
  try {
    return { ok: true, value: JSON.parse(text), notices: [] };
  } catch {
    return { ok: false, issues: [{ pointer: "", rule: "json", expected: "JSON text", received }] };
  }
}
