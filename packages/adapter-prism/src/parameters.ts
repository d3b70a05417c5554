import type { HostJsonObject, JsonValue } from "./host.ts";
import { isPlainText, plainText } from "./plain-text.ts";
import { removeReferences } from "./schema-references.ts";

/** The parameters of a tool as a host can take them. */
export interface Parameters {
  readonly schema: HostJsonObject;
  /** The surface's schema is too large to hand on: this one allows everything. */
  readonly isOpen: boolean;
}

/** Levels of JSON. The host's redactor writes over what is deeper than 32 in a request, some of which is around the schema. */
const MAX_DEPTH = 24;
/** The host's validator takes 10,000. */
const MAX_KEYS = 5000;
/** The host's validator takes 256 KiB of one tool; a request to a provider holds the schemas of all of them. */
const MAX_BYTES = 65_536;
const MAX_WORDS = 512;
const MAX_TEXT = 1024;

/** These refuse a schema, or reach what no data should. */
const DANGEROUS: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);
/** Providers refuse a whole request for one property whose name is another. */
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const TYPES: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const FORMATS: ReadonlySet<unknown> = new Set(
  "date date-time duration email hostname ipv4 ipv6 json-pointer regex time uri uri-reference uuid".split(" "),
);

/**
 * A surface's input schema as a host can take it: always an object schema, of keywords that validators know, with local
 * references that lead to an end, keys in one order whatever the surface's, and words of the surface marked as such.
 * What is left out is not described to the model; the surface checks its arguments itself.
 */
export function cleanParameters(inputSchema: Readonly<Record<string, unknown>>): Parameters {
  const { type } = inputSchema;
  const isObject = type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
  const cleaned = isObject ? cleanSchema({ ...inputSchema, type: "object" }, 1) : {};
  const schema = sorted({ properties: {}, ...(cleaned as HostJsonObject), type: "object" });
  removeReferences(schema);
  const isOpen = countKeys(schema) > MAX_KEYS || new TextEncoder().encode(JSON.stringify(schema)).length > MAX_BYTES;
  return isOpen ? { schema: { properties: {}, type: "object" }, isOpen } : { schema, isOpen };
}

type Rule = (value: unknown, depth: number) => JsonValue | undefined;

const flag: Rule = (value) => (typeof value === "boolean" ? value : undefined);
const number: Rule = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const count: Rule = (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined);
const schema: Rule = (value, depth) => {
  if (typeof value === "boolean") return value;
  return isRecord(value) ? cleanSchema(value, depth) : undefined;
};
const schemas: Rule = (value, depth) => {
  if (!Array.isArray(value) || value.length === 0 || depth >= MAX_DEPTH) return undefined;
  return value.map((item) => schema(item, depth + 1) ?? {});
};
const names: Rule = (value) => {
  const kept = Array.isArray(value) ? [...new Set(value.filter(isPropertyName))].sort() : [];
  return kept.length > 0 ? kept : undefined;
};
const mapOf =
  (rule: Rule, isKey: (key: string) => boolean): Rule =>
  (value, depth) =>
    isRecord(value) && depth < MAX_DEPTH
      ? cleanEntries(value, (key) => (isKey(key) ? rule : undefined), depth + 1)
      : undefined;

/** A list of pairs: an object with a member `then` would be taken for a promise. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["$defs", mapOf(schema, isSafeKey)],
  ["$ref", (value) => (typeof value === "string" && value.length <= MAX_TEXT ? value : undefined)],
  ["additionalProperties", schema],
  ["allOf", schemas],
  ["anyOf", schemas],
  ["const", data],
  ["contains", schema],
  ["default", data],
  ["definitions", mapOf(schema, isSafeKey)],
  ["dependentRequired", mapOf(names, isPropertyName)],
  ["dependentSchemas", mapOf(schema, isPropertyName)],
  ["deprecated", flag],
  ["description", (value) => (typeof value === "string" && value.trim() !== "" ? quoteWords(value) : undefined)],
  ["else", schema],
  [
    "enum",
    (value, depth) => {
      const values = Array.isArray(value) ? value.map((item) => data(item, depth + 1)) : [];
      return values.length > 0 && values.every((item) => item !== undefined) ? values : undefined;
    },
  ],
  ["exclusiveMaximum", number],
  ["exclusiveMinimum", number],
  ["format", (value) => (FORMATS.has(value) ? (value as string) : undefined)],
  ["if", schema],
  ["items", schema],
  ["maxContains", count],
  ["maxItems", count],
  ["maxLength", count],
  ["maxProperties", count],
  ["maximum", number],
  ["minContains", count],
  ["minItems", count],
  ["minLength", count],
  ["minProperties", count],
  ["minimum", number],
  ["multipleOf", (value) => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined)],
  ["not", schema],
  ["oneOf", schemas],
  ["pattern", (value) => (typeof value === "string" && isSimplePattern(value) ? value : undefined)],
  ["prefixItems", schemas],
  ["properties", mapOf(schema, isPropertyName)],
  ["propertyNames", schema],
  ["readOnly", flag],
  ["required", names],
  ["then", schema],
  [
    "type",
    (value) => {
      if (!Array.isArray(value)) return TYPES.has(value) ? (value as string) : undefined;
      const types = [...new Set(value.filter((type) => TYPES.has(type)))];
      return types.length > 0 ? types : undefined;
    },
  ],
  ["uniqueItems", flag],
  ["writeOnly", flag],
]);

/** What is deeper than the bound is not described. */
function cleanSchema(value: Readonly<Record<string, unknown>>, depth: number): HostJsonObject {
  if (depth >= MAX_DEPTH) return {};
  return cleanEntries(value, (key) => RULES.get(key), depth + 1);
}

function cleanEntries(
  value: Readonly<Record<string, unknown>>,
  ruleOf: (key: string) => Rule | undefined,
  depth: number,
): HostJsonObject {
  const cleaned: HostJsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const kept = ruleOf(key)?.(value[key], depth);
    if (kept !== undefined) cleaned[key] = kept;
  }
  return cleaned;
}

/** Values that are data, not schemas: all of it, in one order, or nothing. */
function data(value: unknown, depth: number): JsonValue | undefined {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return number(value, depth);
  if (typeof value === "string") return value.length <= MAX_TEXT && isPlainText(value) ? value : undefined;
  if (depth >= MAX_DEPTH || typeof value !== "object") return undefined;
  const children: JsonValue[] = [];
  for (const child of Object.values(value)) {
    const kept = data(child, depth + 1);
    if (kept === undefined) return undefined;
    children.push(kept);
  }
  if (Array.isArray(value)) return children;
  const keys = Object.keys(value);
  // A validator would take a member of this name for a reference, wherever it stands.
  if (!keys.every((key) => isSafeKey(key) && key !== "$ref")) return undefined;
  return sorted(Object.fromEntries(keys.map((key, index) => [key, children[index] as JsonValue])));
}

/** Nothing between the quotes can end them, and every line of it is theirs. */
function quoteWords(words: string): string {
  const text = words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS)} [shortened]`;
  return `In the surface's words: ${JSON.stringify(plainText(text))}`;
}

/**
 * A host may run a pattern over arguments of any length, and the pattern is the surface's. One that repeats a group,
 * looks around or back, or repeats without bound more than twice could run for very long.
 */
function isSimplePattern(pattern: string): boolean {
  if (pattern.length > 256 || !isPlainText(pattern) || /\)[*+?{]|\(\?[=!<]|\\[1-9k]/.test(pattern)) return false;
  if ((pattern.match(/[*+]|\{\d*,\}/g) ?? []).length > 2) return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function isSafeKey(key: string): boolean {
  return !DANGEROUS.has(key) && key.length <= 256 && isPlainText(key);
}

function isPropertyName(key: unknown): key is string {
  return typeof key === "string" && PROPERTY_NAME.test(key) && !DANGEROUS.has(key);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(value: HostJsonObject): HostJsonObject {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function countKeys(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, child) => sum + countKeys(child), own);
}
