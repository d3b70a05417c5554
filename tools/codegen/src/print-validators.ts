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
  const definitions = Object.fromEntries(model.definitions.map(({ name, json }) => [name, forValidator(json)]));
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
function forValidator(value: Json): Json {
  if (Array.isArray(value)) return value.map(forValidator);
  if (typeof value !== "object" || value === null) return value;
  const constants = Array.isArray(value["oneOf"]) && value["oneOf"].map((member) => (member as JsonObject)["const"]);
  if (Array.isArray(constants) && !constants.includes(undefined as never)) return { enum: constants as Json[] };
  const kept = Object.entries(value).filter(
    ([key]) => (!key.startsWith("x-") || ASSERTIONS.has(key)) && key !== "description",
  );
  return Object.fromEntries(
    kept.map(([key, member]) => [key, key === "properties" ? named(member as JsonObject) : forValidator(member)]),
  );
}

/** Members of `properties` are names: one may well be called description. */
function named(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, forValidator(schema)]));
}

/** Ajv prints untyped JavaScript; here it becomes a module whose exports have types, whose imports are ours, and which shakes well. */
function typed(code: string, file: SourceFile): string {
  const validator = file.type("../parse/runtime.ts", "Validator");
  const text = code
    .replace(/^"use strict";\n?/, "")
    .replaceAll(/require\("ajv\/dist\/runtime\/ucs2length"\)\.default/g, "codePoints")
    .replaceAll(/^export const (\w+) = (\w+);$/gm, `export const $1: ${validator} = $2;`)
    .replaceAll(/schemaPath:\s*"[^"]*",\s*/g, "")
    .replaceAll(/= new RegExp\(/g, "= /* @__PURE__ */ new RegExp(");
  if (/\brequire\(/.test(text))
    throw new Error("the compiled validators need a runtime module of Ajv that is not replaced");
  return text;
}
