import { byteLength, isObject, type JsonObjectLike, jsonFault } from "../bounded-json.ts";
import type { LimitName, Limits } from "./limits.ts";
import { badInput, invalid, overLimit } from "./refusal.ts";

/**
 * Reads a list of objects. What is wrong with one of them is said with its place.
 *
 * @throws AgUiRefusal 400, and what `read` throws
 */
export function readEach<T>(name: string, list: unknown, read: (entry: JsonObjectLike) => T): T[] {
  if (!Array.isArray(list)) throw invalid(name);
  return list.map((entry: unknown, index) => {
    try {
      if (!isObject(entry)) throw badInput("an object is required");
      return read(entry);
    } catch (error) {
      if (error instanceof Error) error.message = `${name}[${index}]: ${error.message}`;
      throw error;
    }
  });
}

/**
 * A list of the input that may be absent, with limits of its own: each of its entries counts by itself.
 *
 * @throws AgUiRefusal 400 or 413
 */
export function listOf(name: string, value: unknown, limits: Limits, limit: LimitName): readonly JsonObjectLike[] {
  const list = value ?? [];
  if (Array.isArray(list) && list.length > limits[limit]) throw overLimit(name, limit);
  return readEach(name, list, (entry) => {
    assertBounded(entry, limits);
    return entry;
  });
}

/** @throws AgUiRefusal 400 or 413 */
export function assertBounded(value: unknown, limits: Limits, depth?: number): void {
  const fault = jsonFault(value, limits, depth);
  if (fault === "key" || fault === "value") throw badInput("Invalid JSON value");
  if (fault !== undefined) throw overLimit("The JSON", fault);
}

/** @throws AgUiRefusal 413 */
export function assertFits(what: string, text: string, limits: Limits, limit: LimitName): void {
  if (byteLength(text) > limits[limit]) throw overLimit(what, limit);
}
