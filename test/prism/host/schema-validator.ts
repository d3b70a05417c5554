import { Ajv } from "ajv";
import type { ToolValidator } from "./policies.ts";
import type { JsonObject } from "./shapes.ts";

const SCHEMA = { bytes: 256 * 1024, depth: 64, properties: 10_000, references: 128 };
const INSTANCE = { depth: 64, properties: 1_000, characters: 1_000_000, items: 10_000 };
const DANGEROUS: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

/** The host's parameter validator: it stops every call of a tool whose schema is outside these bounds. */
export function createToolParameterValidator({
  missingSchema = "allow",
}: {
  missingSchema?: "allow" | "reject";
} = {}): ToolValidator {
  const ajv = new Ajv({ strict: false, logger: false, validateFormats: false });
  return ({ parameters }, args) => {
    if (parameters === undefined) return missingSchema === "reject" ? "the tool has no schema" : undefined;
    const problem = schemaProblem(parameters) ?? instanceProblem(args, 0);
    if (problem !== undefined) return problem;
    try {
      const check = ajv.compile(parameters);
      return check(args) ? undefined : ajv.errorsText(check.errors);
    } catch (error) {
      return `the schema cannot be compiled: ${(error as Error).message}`;
    }
  };
}

/** Why the validator refuses a schema as such; nothing where it takes it. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const seen = { properties: 0, references: 0 };
  const walk = (value: unknown, depth: number, above: readonly object[]): string | undefined => {
    if (typeof value === "number" && !Number.isFinite(value)) return "the schema holds a number that is not finite";
    if (typeof value !== "object" || value === null) return undefined;
    if (above.includes(value)) return "the schema is circular";
    if (depth > SCHEMA.depth) return `the schema is deeper than ${SCHEMA.depth}`;
    for (const [key, inner] of Object.entries(value)) {
      if (DANGEROUS.has(key)) return "the schema has a forbidden key";
      if (!Array.isArray(value)) seen.properties++;
      if (key === "$ref" && typeof inner === "string") {
        seen.references++;
        if (!inner.startsWith("#")) return "the schema refers to another document";
      }
      const problem = walk(inner, depth + 1, [...above, value]);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const problem = walk(schema, 1, []);
  if (problem !== undefined) return problem;
  if (seen.properties > SCHEMA.properties) return "the schema has too many properties";
  if (seen.references > SCHEMA.references) return "the schema has too many references";
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA.bytes) return "the schema is too large";
  return undefined;
}

function instanceProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === "string" && value.length > INSTANCE.characters) return "a text is too long";
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > INSTANCE.depth) return "the arguments are too deep";
  const inner = Object.values(value);
  if (inner.length > (Array.isArray(value) ? INSTANCE.items : INSTANCE.properties))
    return "the arguments are too large";
  for (const item of inner) {
    const problem = instanceProblem(item, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
