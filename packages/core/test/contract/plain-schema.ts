import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

export type Schema = Readonly<Record<string, unknown>>;

export const specDirectory: string = join(import.meta.dirname, "../../../../spec");

const surface = JSON.parse(readFileSync(join(specDirectory, "surface.schema.json"), "utf8"));

/** The definitions of the contract as they are written, constant tables apart. */
export const definitions: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(surface.definitions as Record<string, Schema>).filter(([, schema]) => schema["x-constants"] !== true),
);

const limitSchemas: Record<string, { default: number }> = surface.definitions.Limits.properties;

/** A limit by its name in the contract, as vendor keywords give it. */
function limitOf(nameOrNumber: unknown): number {
  if (typeof nameOrNumber === "number") return nameOrNumber;
  const limit = limitSchemas[String(nameOrNumber)];
  if (limit === undefined) throw new Error(`the contract has no limit ${String(nameOrNumber)}`);
  return limit.default;
}

const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addKeyword({
  keyword: "x-max-bytes",
  validate: (limit: unknown, value: unknown) => byteLength(value) <= limitOf(limit),
});
ajv.addKeyword({
  keyword: "x-max-depth",
  validate: (limit: unknown, value: unknown) => depthOf(value) <= limitOf(limit) && !holdsProtoKey(value),
});
ajv.addKeyword({
  keyword: "x-reserved-endings",
  validate: (rule: Endings, value: unknown) => typeof value !== "string" || !isReservedName(value, rule),
});
ajv.addSchema({ ...surface, $id: "surface.schema.json" });

/**
 * The contract's own schema in an ordinary validator, with the three assertions that JSON Schema lacks written anew:
 * it shares no code with the generated parsers.
 */
export function plainValidator(pointer: string): ValidateFunction {
  const validate = ajv.getSchema(`surface.schema.json#${pointer}`);
  if (validate === undefined) throw new Error(`the contract has no ${pointer}`);
  return validate;
}

/** A validator for a schema outside the file, whose references into it are written as the AsyncAPI document writes them. */
export function compilePlain(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll("./surface.schema.json#", "surface.schema.json#");
  return ajv.compile(JSON.parse(text));
}

/** Whether what the definition's parser gives may differ from what went in. */
export function isNormalising(name: string): boolean {
  const schema = definitions[name];
  if (schema === undefined) throw new Error(`the contract has no definition ${name}`);
  if (["x-wrap", "x-vocabulary", "x-fold-case"].some((keyword) => keyword in schema)) return true;
  return Object.values((schema["properties"] ?? {}) as Record<string, unknown>).some(
    (property) => JSON.stringify(property).includes('"x-read-from"') || refersToReader(property),
  );
}

/** Every value under an `examples` keyword of a schema or of one inside it. */
export function* schemaExamples(schema: Schema, pointer: string): Generator<{ pointer: string; value: unknown }> {
  for (const value of (schema["examples"] ?? []) as unknown[]) yield { pointer, value };
  const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
  for (const keyword of ["properties", "oneOf", "anyOf", "allOf"]) {
    for (const [key, inner] of Object.entries((schema[keyword] ?? {}) as Record<string, Schema>)) {
      yield* schemaExamples(inner, `${pointer}/${keyword}/${escaped(key)}`);
    }
  }
  if (schema["items"] !== undefined) yield* schemaExamples(schema["items"] as Schema, `${pointer}/items`);
}

function refersToReader(property: unknown): boolean {
  const target = (property as { $ref?: string }).$ref?.replace("#/definitions/", "");
  return target !== undefined && isNormalising(target);
}

function byteLength(value: unknown): number {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Buffer.byteLength(text, "utf8");
}

function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    level = level.filter((member) => typeof member === "object" && member !== null);
    if (level.length === 0) return depth;
    level = level.flatMap((member) => Object.values(member as object));
  }
}

function holdsProtoKey(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.keys(next).includes("__proto__")) return true;
    for (const member of Object.values(next)) open.push(member);
  }
  return false;
}

interface Endings {
  readonly words: readonly string[];
  readonly separators: string;
  readonly strip: readonly string[];
}

/** The rule of PROTOCOL.md section 7 as one expression for each word. */
function isReservedName(name: string, { words, separators, strip }: Endings): boolean {
  const class_ = (characters: readonly string[]) =>
    `[${characters.map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join("")}]`;
  const edge = `${class_(strip)}*`;
  return words.some((word) => {
    const [first = "", second = ""] = word;
    const anyCase = (text: string) => [...text].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");
    const ending = anyCase(word);
    const rest = anyCase(word.slice(2));
    const hump = `(?<=[a-z0-9])${first.toUpperCase()}${anyCase(word.slice(1))}|${first.toUpperCase()}${second}${rest}`;
    const alone = `^${edge}${ending}${edge}$`;
    const separated = `${class_([...separators])}${ending}${edge}$`;
    return new RegExp(`${alone}|${separated}|(?:${hump})${edge}$`, "u").test(name);
  });
}
