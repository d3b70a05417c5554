import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { addAssertionKeywords, RUNTIME_FUNCTIONS } from "./assertion-keywords.ts";
import type { SourceFile } from "./file.ts";
import type { Json, JsonObject } from "./load.ts";
import type { Field, Model } from "./model.ts";
import { upperFirst } from "./names.ts";
import { pointerTo } from "./problem.ts";

const ASSERTIONS: ReadonlySet<string> = new Set(["x-max-bytes", "x-max-depth", "x-reserved-endings"]);
const SPEC_ID = "contract";
const SCALARS: ReadonlySet<string> = new Set(["string", "integer", "boolean", "null"]);
const OF_ONE_TYPE: ReadonlySet<string> = new Set(["minLength", "maxLength", "pattern", "minimum", "maximum"]);

/** Name of the compiled check of a definition, or of one of its members. */
export function validatorName(definition: string, member?: string): string {
  return `validate${definition}${member === undefined ? "" : upperFirst(member.replace(/[^A-Za-z0-9]/g, ""))}`;
}

/** validators.ts: every check compiled ahead of time. No `eval`, and nothing of Ajv is imported at run time. */
export function printValidators(model: Model, file: SourceFile): void {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    messages: false,
    inlineRefs: false,
    code: { source: true, esm: true, lines: true },
  });
  addAssertionKeywords(ajv, model.limits);
  const byName = new Map(model.definitions.map(({ name, json }) => [name, json]));
  const definitions = Object.fromEntries(model.definitions.map(({ name, json }) => [name, forValidator(json, byName)]));
  ajv.addSchema({ $id: SPEC_ID, definitions });
  const functions: Record<string, string> = {};
  for (const { name, parse } of model.definitions) {
    functions[validatorName(name)] = `${SPEC_ID}#${pointerTo("definitions", name)}`;
    const fields: readonly Field[] = parse.kind === "reader" ? parse.fields : [];
    for (const field of fields) {
      if (field.check !== undefined && field.list === undefined)
        functions[validatorName(name, field.name)] = `${SPEC_ID}#${field.check}`;
    }
  }
  for (const runtimeName of RUNTIME_FUNCTIONS) file.value("../parse/runtime.ts", runtimeName);
  file.print(typed((standalone as unknown as typeof standalone.default)(ajv, functions), file));
}

/** The schema without what only parsers understand, and without prose. */
function forValidator(value: Json, definitions: ReadonlyMap<string, JsonObject>): Json {
  if (Array.isArray(value)) return value.map((member) => forValidator(member, definitions));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value["oneOf"])) {
    const constants = value["oneOf"].map((member) => (member as JsonObject)["const"]);
    if (!constants.includes(undefined as never)) return { enum: constants as Json[] };
    const merged = mergedScalars(value["oneOf"], definitions);
    if (merged !== undefined) return merged;
  }
  const kept = Object.entries(value).filter(
    ([key]) => (!key.startsWith("x-") || ASSERTIONS.has(key)) && key !== "description",
  );
  return Object.fromEntries(
    kept.map(([key, member]) => [
      key,
      key === "properties" ? named(member as JsonObject, definitions) : forValidator(member, definitions),
    ]),
  );
}

/** Members of `properties` are names: one may well be called description. */
function named(properties: JsonObject, definitions: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, forValidator(schema, definitions)]),
  );
}

/**
 * Alternatives that are scalars of different types as one schema with a list of types: each keyword looks at values of
 * its own type only, so it says the same, and no alternative has to fail first.
 */
function mergedScalars(members: readonly Json[], definitions: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  const types: string[] = [];
  const merged: JsonObject = {};
  for (const member of members.flatMap((alternative) => alternatives(alternative as JsonObject, definitions))) {
    const { type, description: _, ...rest } = member;
    if (typeof type !== "string" || !SCALARS.has(type) || types.includes(type)) return undefined;
    if (!Object.keys(rest).every((keyword) => OF_ONE_TYPE.has(keyword) && !Object.hasOwn(merged, keyword)))
      return undefined;
    types.push(type);
    Object.assign(merged, rest);
  }
  return { type: types, ...merged };
}

function alternatives(schema: JsonObject, definitions: ReadonlyMap<string, JsonObject>): JsonObject[] {
  const target = definitions.get(String(schema["$ref"]).replace("#/definitions/", ""));
  const resolved = target ?? schema;
  return Array.isArray(resolved["oneOf"]) ? (resolved["oneOf"] as JsonObject[]) : [resolved];
}

/** Ajv prints untyped JavaScript; here it becomes a module whose exports have types, whose imports are ours, and which shakes well. */
function typed(code: string, file: SourceFile): string {
  const validator = file.type("../parse/runtime.ts", "Validator");
  const text = positional(code)
    .replace(/^"use strict";\n?/, "")
    .replace(/^const \w+ = require\("ajv\/dist\/runtime\/ucs2length"\)\.default;\n/m, "")
    .replaceAll(/\bfunc\w+\((\w+)\) > (\d+)/g, "isLonger($1, $2)")
    .replaceAll(/\bfunc\w+\((\w+)\) < (\d+)/g, "isShorter($1, $2)")
    .replaceAll(/^export const (\w+) = (\w+);$/gm, `export const $1: ${validator} = $2;`)
    .replaceAll(/schemaPath:\s*"[^"]*",\s*/g, "")
    .replaceAll(/= new RegExp\(/g, "= /* @__PURE__ */ new RegExp(");
  if (/\brequire\(/.test(text))
    throw new Error("the compiled validators need a runtime module of Ajv that is not replaced");
  return text;
}

/** Ajv hands every call an object of four members; these checks need the path alone, so it becomes a plain parameter. */
function positional(code: string): string {
  const text = code
    .replaceAll(
      /\{\s*instancePath\s*=\s*"",\s*parentData,\s*parentDataProperty,\s*rootData\s*=\s*data\s*\}\s*=\s*\{\}/g,
      'instancePath = ""',
    )
    .replaceAll(/\{instancePath,parentData,parentDataProperty,rootData\}/g, "instancePath")
    .replaceAll(/\{instancePath:([^,{}]+),parentData:[^,{}]+,parentDataProperty:(?:"[^"]*"|\w+),rootData\}/g, "$1");
  if (/\b(?:parentData|rootData)/.test(text)) throw new Error("a compiled validator needs more than the path");
  return text;
}
