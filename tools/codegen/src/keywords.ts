import type { Json, JsonObject } from "./load.ts";
import { RELAY_FILE, SURFACE_FILE } from "./load.ts";
import { type Problem, pointerTo } from "./problem.ts";

type Shape = (value: Json) => boolean;

const isText: Shape = (value) => typeof value === "string" && value !== "";
const isTexts: Shape = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
const isFlag: Shape = (value) => typeof value === "boolean";
const isTrue: Shape = (value) => value === true;
const isObject: Shape = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isCount: Shape = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isLimit: Shape = (value) => isCount(value) || isText(value);
const isAnything: Shape = () => true;

/** An object with members of these shapes, and no others; those whose name ends in `?` may be absent. */
function isRecord(members: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(members).map((name) => name.replace("?", ""));
  return (value) =>
    isObject(value) &&
    Object.keys(value as JsonObject).every((name) => names.includes(name)) &&
    Object.entries(members).every(([key, shape]) => {
      const member = (value as JsonObject)[key.replace("?", "")];
      return member === undefined ? key.endsWith("?") : shape(member);
    });
}

/** The part of JSON Schema draft-07 that the contract uses. Where a keyword holds schemas, `walk` goes into them. */
const STANDARD: Readonly<Record<string, Shape>> = {
  $schema: isText,
  title: isText,
  description: isText,
  definitions: isObject,
  $ref: isText,
  type: (value) => ["object", "array", "string", "number", "integer", "boolean", "null"].includes(value as string),
  properties: isObject,
  required: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  items: isObject,
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: isAnything,
  oneOf: (value) => Array.isArray(value) && value.length > 0,
  allOf: (value) => Array.isArray(value) && value.length === 1,
  pattern: isText,
  minLength: isCount,
  maxLength: isCount,
  minimum: (value) => typeof value === "number",
  maximum: (value) => typeof value === "number",
  maxItems: isCount,
  default: isAnything,
  examples: (value) => Array.isArray(value),
};

const PARTIES: readonly string[] = ["agent", "surface", "relay"];

/** PROTOCOL.md section 9 gives the meaning of each. */
const VENDOR: Readonly<Record<string, Shape>> = {
  "x-places": isTexts,
  "x-wrap": isRecord({ into: isText, list: isFlag, having: isText }),
  "x-tag": isText,
  "x-select": (value) => Array.isArray(value) && value.every(isRecord({ "has?": Array.isArray, use: isText })),
  "x-sent-by": (value) => isTexts(value) && (value as string[]).every((party) => PARTIES.includes(party)),
  "x-constants": isTrue,
  "x-open": isTrue,
  "x-outcome": isTexts,
  "x-retryable": isFlag,
  "x-secret": isTrue,
  "x-read-from": isTexts,
  "x-inverse-from": isTexts,
  "x-first": (value) => value === "valid" || value === "present",
  "x-coerce": (value) => value === "text",
  "x-trim": isTrue,
  "x-vocabulary": (value) => isObject(value) && Object.values(value as JsonObject).every(isTexts),
  "x-otherwise": isAnything,
  "x-malformed": isAnything,
  "x-fold-case": isTrue,
  "x-drop-invalid": isText,
  "x-embedded-json": isTrue,
  "x-max-bytes": isLimit,
  "x-max-depth": isLimit,
  "x-reserved-endings": isRecord({ words: isTexts, separators: isText, hump: isFlag, strip: isTexts }),
};

/** Every keyword that a schema of the contract may have. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([...Object.keys(STANDARD), ...Object.keys(VENDOR)]);

/** Extensions of the AsyncAPI document; the official parser knows all its other keywords. */
const EXTENSIONS: ReadonlySet<string> = new Set([
  "x-protocol",
  "x-used-by",
  "x-dialect",
  "x-optional",
  "x-unit",
  "x-event-stream",
  "x-share-links",
  "x-relay-errors",
]);

/** Keywords whose values are schemas by name, a list of schemas, or one schema. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(["definitions", "properties"]);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(["oneOf", "allOf"]);

/** Keywords that no part of the generator knows, or whose value has the wrong shape. */
export function keywordProblems(surface: JsonObject, relay: JsonObject): Problem[] {
  return [...schemaProblems(surface, []), ...extensionProblems(relay, [])];
}

function* schemaProblems(schema: Json, keys: Array<string | number>): Generator<Problem> {
  if (schema === false) return;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    yield { file: SURFACE_FILE, pointer: pointerTo(...keys), message: "a schema is an object, or false" };
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const pointer = pointerTo(...keys, keyword);
    const shape = Object.hasOwn(STANDARD, keyword) ? STANDARD[keyword] : VENDOR[keyword];
    if (shape === undefined || !(Object.hasOwn(STANDARD, keyword) || Object.hasOwn(VENDOR, keyword))) {
      yield { file: SURFACE_FILE, pointer, message: `unknown keyword ${keyword}` };
    } else if (!shape(value)) {
      yield {
        file: SURFACE_FILE,
        pointer,
        message: `${keyword} does not have the shape that PROTOCOL.md section 9 gives`,
      };
    } else if (NAMED_SCHEMAS.has(keyword)) {
      for (const [name, member] of Object.entries(value as JsonObject))
        yield* schemaProblems(member, [...keys, keyword, name]);
    } else if (SCHEMA_LISTS.has(keyword)) {
      for (const [index, member] of (value as Json[]).entries())
        yield* schemaProblems(member, [...keys, keyword, index]);
    } else if (keyword === "items") {
      yield* schemaProblems(value, [...keys, keyword]);
    }
  }
}

function* extensionProblems(value: Json, keys: Array<string | number>): Generator<Problem> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (!key.startsWith("x-")) yield* extensionProblems(member, [...keys, key]);
    else if (!EXTENSIONS.has(key))
      yield { file: RELAY_FILE, pointer: pointerTo(...keys, key), message: `unknown keyword ${key}` };
  }
}
