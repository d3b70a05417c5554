import type { SourceFile } from "./file.ts";
import type { Json, JsonObject } from "./load.ts";
import type { Definition, Model } from "./model.ts";
import { propertyKey } from "./names.ts";

const RUNTIME = "../parse/runtime.ts";

/** Keywords that say nothing of whether a value is valid. */
const SILENT: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);

/** guards.ts: one `isX` for every definition that is only checked. It says the same as its parser, in the fewest bytes. */
export function printGuards(model: Model, file: SourceFile): void {
  const guards = new Guards(model, file);
  const wanted = model.definitions.filter(({ parse }) => parse.kind === "checked");
  for (const { name, json } of wanted) {
    file.type("./types.ts", name);
    file.doc(`Whether a value is a {@link ${name}}, without saying why not: for where bytes count.`);
    file.print(
      `export function is${name}(input: unknown): input is ${name} {`,
      `  return ${guards.text(json, "input")};`,
      "}",
      "",
    );
  }
  for (const [name, text] of guards.others()) file.print(`function is${name}(input) {`, `  return ${text};`, "}", "");
  for (const [pattern, name] of guards.patterns)
    file.print(`const ${name} = /* @__PURE__ */ new RegExp(${JSON.stringify(pattern)}, "u");`);
  for (const [rule, name] of guards.rules) file.print(`const ${name} = ${rule};`);
}

class Guards {
  readonly patterns = new Map<string, string>();
  readonly rules = new Map<string, string>();
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #limits: ReadonlyMap<string, number>;
  readonly #file: SourceFile;
  /** Definitions that have no guard of their own, and are needed by others. */
  readonly #needed = new Set<string>();

  constructor(model: Model, file: SourceFile) {
    this.#definitions = new Map(model.definitions.map((definition) => [definition.name, definition]));
    this.#limits = model.limits;
    this.#file = file;
  }

  *others(): Iterable<[name: string, text: string]> {
    for (const name of this.#needed) yield [name, this.text(this.#definitions.get(name)?.json ?? false, "input")];
  }

  /** An expression that is true if `at` holds what the schema allows. */
  text(schema: Json, at: string): string {
    if (schema === false) return `${at} === undefined`;
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "true";
    const { type, ...rest } = schema;
    const ordered = Object.entries(type === undefined ? rest : { type, ...rest });
    const parts = ordered.flatMap(([keyword, value]) => this.#keyword(keyword, value, schema, at));
    return parts.length === 0 ? "true" : parts.join(" && ");
  }

  #keyword(keyword: string, value: Json, schema: JsonObject, at: string): string[] {
    switch (keyword) {
      case "$ref":
        return [`is${this.#referred(String(value))}(${at})`];
      case "const":
        return [`${at} === ${JSON.stringify(value)}`];
      case "enum":
        return [oneOfValues(value as Json[], at)];
      case "type":
        return [this.#typeText(value as string, at)];
      case "pattern":
        return [`${this.#named(this.patterns, String(value), "pattern")}.test(${at})`];
      case "minLength":
        return [value === 1 ? `${at} !== ""` : `!${this.#runtime("isShorter")}(${at}, ${value})`];
      case "maxLength":
        return [`!${this.#runtime("isLonger")}(${at}, ${value})`];
      case "minimum":
        return [`${at} >= ${value}`];
      case "maximum":
        return [`${at} <= ${value}`];
      case "maxItems":
        return [`${at}.length <= ${value}`];
      case "items":
        return [`${at}.every((item) => ${this.text(value, "item")})`];
      case "x-max-bytes":
        return [`${this.#runtime("fitsBytes")}(${at}, ${this.#limit(value)})`];
      case "x-max-depth":
        return [`${this.#runtime("isShallow")}(${at}, ${this.#limit(value)})`];
      case "x-reserved-endings":
        return [
          `!${this.#runtime("isReserved")}(${at}, ${this.#named(this.rules, ruleText(value as JsonObject), "rule")})`,
        ];
      case "required":
        return (value as string[])
          .filter((name) => !refusesNothing(schema, name))
          .map((name) => `${member(at, name)} !== undefined`);
      case "properties":
        return Object.entries(value as JsonObject).map(([name, json]) =>
          refusesNothing(schema, name) ? this.text(json, member(at, name)) : this.#optional(json, member(at, name)),
        );
      case "allOf":
        return (value as Json[]).map((json) => this.text(json, at));
      case "oneOf":
        return [this.#oneOf(value as JsonObject[], at)];
      default:
        if (SILENT.has(keyword) || keyword.startsWith("x-")) return [];
        throw new Error(`guards do not know the keyword ${keyword} of ${JSON.stringify(schema).slice(0, 80)}`);
    }
  }

  #optional(schema: Json, at: string): string {
    const text = this.text(schema, at);
    if (schema === false || text === "true") return text;
    return `(${at} === undefined || (${text}))`;
  }

  #oneOf(members: readonly JsonObject[], at: string): string {
    const values = members.map((member) => member["const"]);
    if (!values.includes(undefined as never)) return oneOfValues(values as Json[], at);
    return `${members.map((json) => `Number(${this.text(json, at)})`).join(" + ")} === 1`;
  }

  #typeText(type: string, at: string): string {
    switch (type) {
      case "object":
        return `${this.#runtime("isObject")}(${at})`;
      case "array":
        return `Array.isArray(${at})`;
      case "integer":
        return `Number.isInteger(${at})`;
      case "number":
        return `Number.isFinite(${at})`;
      case "null":
        return `${at} === null`;
      default:
        return `typeof ${at} === "${type}"`;
    }
  }

  #referred(reference: string): string {
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    if (this.#definitions.get(name)?.parse.kind !== "checked") this.#needed.add(name);
    return name;
  }

  #limit(value: Json): number {
    return typeof value === "string" ? (this.#limits.get(value) as number) : (value as number);
  }

  #runtime(name: string): string {
    return this.#file.value(RUNTIME, name);
  }

  #named(map: Map<string, string>, key: string, prefix: string): string {
    const name = map.get(key) ?? `${prefix}${map.size + 1}`;
    map.set(key, name);
    return name;
  }
}

const TELLING = ["type", "const", "enum", "$ref", "oneOf"];

/** Whether a required member needs no test for being there, because its own schema does not take `undefined`. */
function refusesNothing({ required, properties }: JsonObject, name: string): boolean {
  const member = (properties as JsonObject | undefined)?.[name];
  if (!(required as string[] | undefined)?.includes(name) || typeof member !== "object" || member === null)
    return false;
  return TELLING.some((keyword) => Object.hasOwn(member, keyword));
}

function oneOfValues(values: readonly Json[], at: string): string {
  return values.length === 1 ? `${at} === ${JSON.stringify(values[0])}` : `${JSON.stringify(values)}.includes(${at})`;
}

function member(at: string, name: string): string {
  const key = propertyKey(name);
  return key === name ? `${at}.${name}` : `${at}[${key}]`;
}

/** Invisible characters stay visible in the generated file. */
function ruleText({ words, separators, hump, strip }: JsonObject): string {
  const rule = JSON.stringify({ words, separators, hump, strip: (strip as string[]).join("") });
  return rule.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
