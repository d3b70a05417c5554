import { _, type Ajv, type Code, type CodeGen, type CodeKeywordDefinition, type Name } from "ajv";
import type { JsonObject } from "./load.ts";

/** Names that generated validators take from the runtime of the parsers. */
export const RUNTIME_FUNCTIONS: readonly string[] = ["fitsBytes", "isLonger", "isReserved", "isShallow", "isShorter"];

/** Teaches a validator the assertions that JSON Schema does not have. They call the parsers' runtime by name. */
export function addAssertionKeywords(ajv: Ajv, limits: ReadonlyMap<string, number>): void {
  const limitOf = (schema: unknown) => (typeof schema === "string" ? limits.get(schema) : (schema as number)) as number;
  ajv.addKeyword(bounded("x-max-bytes", "fitsBytes", limitOf));
  ajv.addKeyword(bounded("x-max-depth", "isShallow", limitOf));
  ajv.addKeyword({
    keyword: "x-reserved-endings",
    type: "string",
    schemaType: "object",
    code(context) {
      const { words, separators, hump, strip } = context.schema as JsonObject;
      const rule = JSON.stringify({ words, separators, hump, strip: (strip as string[]).join("") });
      const ruleName = context.gen.scopeValue("schema", { key: rule, ref: rule, code: raw(asciiText(rule)) });
      context.fail(_`${runtime(context.gen, "isReserved")}(${context.data}, ${ruleName})`);
    },
  });
}

function bounded(keyword: string, check: string, limitOf: (schema: unknown) => number): CodeKeywordDefinition {
  return {
    keyword,
    schemaType: ["string", "number"],
    error: { message: keyword, params: ({ schema }) => _`{limit: ${limitOf(schema)}}` },
    code(context) {
      context.fail(_`!${runtime(context.gen, check)}(${context.data}, ${limitOf(context.schema)})`);
    },
  };
}

function runtime(gen: CodeGen, name: string): Name {
  return gen.scopeValue("func", { key: name, ref: name, code: raw(name) });
}

/** Code that is written as it is. */
function raw(text: string): Code {
  const template = Object.assign([text], { raw: [text] });
  return _(template as unknown as TemplateStringsArray);
}

/** Invisible characters stay visible in the generated file. */
function asciiText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
