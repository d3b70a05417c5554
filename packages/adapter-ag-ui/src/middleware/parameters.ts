import type { JsonObject } from "@human-plus/core";
import { plainText } from "../plain-text.ts";

const MAX_DEPTH = 16;
/** Schemas in one, with those that references stand for. */
const MAX_SCHEMAS = 1_000;
const MAX_WORDS = 512;
const MAX_DATA = 256;
/** Providers refuse a whole request for one property whose name is another. */
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);
const TYPES: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);

const schemaKeys = ["items", "additionalProperties"] as const;
/** What is cleaned may say less than before: of several, more than one may then be right, and none is excluded. */
const schemaListKeys = [
  ["allOf", "allOf"],
  ["anyOf", "anyOf"],
  ["oneOf", "anyOf"],
] as const;
const numberKeys: readonly string[] = [
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
];

type Cleaned = { [key: string]: unknown };

/**
 * A surface's input schema as a model may be shown it: always of an object, of keywords that are about data, with local
 * references put in, and with the surface's words quoted. What is left out is not described; the surface checks its
 * arguments itself.
 */
export function cleanParameters(inputSchema: JsonObject): JsonObject {
  const cleaner = new SchemaCleaner(inputSchema);
  const { type } = inputSchema;
  const isObject = type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
  const cleaned = isObject ? cleaner.clean(inputSchema, 1) : {};
  return { properties: {}, ...(cleaned === true ? {} : cleaned), type: "object" } as JsonObject;
}

class SchemaCleaner {
  readonly #root: JsonObject;
  readonly #referring = new Set<string>();
  #schemas = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** @returns true where anything may stand */
  clean(value: unknown, depth: number): Cleaned | boolean {
    if (typeof value === "boolean") return value;
    if (!isRecord(value) || depth > MAX_DEPTH || ++this.#schemas > MAX_SCHEMAS) return true;
    const { $ref, ...beside } = value;
    if (typeof $ref === "string") return this.#refer($ref, beside, depth);
    const cleaned: Cleaned = {};
    const set = (key: string, kept: unknown) => {
      if (kept !== undefined) cleaned[key] = kept;
    };
    const { type, description, properties, required } = value;
    set("type", cleanType(type));
    if (typeof description === "string" && description.trim() !== "") set("description", quoteWords(description));
    if (isRecord(properties)) set("properties", this.#properties(properties, depth));
    if (Array.isArray(required)) set("required", [...new Set(required.filter(isPropertyName))]);
    for (const key of schemaKeys) if (Object.hasOwn(value, key)) set(key, this.clean(value[key], depth + 1));
    for (const [key, as] of schemaListKeys) {
      const list = value[key];
      if (Array.isArray(list) && list.length > 0) set(as, this.#list(list, depth));
    }
    for (const key of numberKeys) if (Number.isFinite(value[key])) set(key, value[key]);
    const { enum: values } = value;
    if (Array.isArray(values) && values.length > 0 && values.every(isData)) set("enum", [...new Set(values)]);
    for (const key of ["const", "default"]) if (isData(value[key])) set(key, value[key]);
    if (typeof value["uniqueItems"] === "boolean") set("uniqueItems", value["uniqueItems"]);
    return cleaned;
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    return list.slice(0, MAX_SCHEMAS).map((item) => this.clean(item, depth + 1));
  }

  #properties(properties: Readonly<Record<string, unknown>>, depth: number): Cleaned {
    const kept = Object.entries(properties).filter(([name]) => isPropertyName(name));
    return Object.fromEntries(kept.map(([name, schema]) => [name, this.clean(schema, depth + 1)]));
  }

  /** Puts in what a reference stands for. One that leads back to itself ends there. */
  #refer(reference: string, beside: Readonly<Record<string, unknown>>, depth: number): Cleaned | boolean {
    if (this.#referring.has(reference)) return true;
    this.#referring.add(reference);
    const cleaned = this.clean({ ...this.#resolve(reference), ...beside }, depth + 1);
    this.#referring.delete(reference);
    return cleaned;
  }

  /** What a local reference stands for; anything where it stands for nothing. */
  #resolve(reference: string): Readonly<Record<string, unknown>> {
    const [first, ...tokens] = reference.split("/", MAX_DEPTH);
    let place: unknown = first === "#" ? this.#root : undefined;
    for (const token of tokens) {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      place = isRecord(place) && Object.hasOwn(place, key) ? place[key] : undefined;
    }
    return isRecord(place) ? place : {};
  }
}

function cleanType(type: unknown): unknown {
  if (!Array.isArray(type)) return TYPES.has(type) ? type : undefined;
  const types = [...new Set(type.filter((one) => TYPES.has(one)))];
  return types.length > 0 ? types : undefined;
}

/** Nothing between the quotes can end them, and every word in them is theirs. */
function quoteWords(words: string): string {
  const text = words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)} [shortened]` : words;
  return `In the surface's words: ${JSON.stringify(plainText(text))}`;
}

/** A value that is too short to say much. */
function isData(value: unknown): boolean {
  if (typeof value === "string") return value.length <= MAX_DATA && plainText(value) === value;
  return value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

function isPropertyName(name: unknown): name is string {
  return typeof name === "string" && PROPERTY_NAME.test(name) && !RESERVED.has(name);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
