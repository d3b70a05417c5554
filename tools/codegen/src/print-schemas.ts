import type { SourceFile } from "./file.ts";
import type { Json, JsonObject } from "./load.ts";
import type { Definition, Model } from "./model.ts";
import { propertyKey } from "./names.ts";

const KEPT: readonly string[] = ["description", "pattern", "minLength", "maxLength", "minimum", "maximum", "maxItems"];

/** schemas.ts: the same messages as TypeBox schemas, for people who compose them. */
export function printSchemas(model: Model, file: SourceFile): void {
  file.value("typebox", "Type");
  const printed = new Set<string>();
  const byName = new Map(model.definitions.map((definition) => [definition.name, definition]));
  const print = (definition: Definition): void => {
    if (printed.has(definition.name)) return;
    printed.add(definition.name);
    for (const name of referredNames(definition.json)) {
      const target = byName.get(name);
      if (target !== undefined) print(target);
    }
    file.doc(definition.description);
    file.print(`export const ${definition.name} = ${schemaText(definition.json)};`, "");
  };
  for (const definition of model.definitions) print(definition);
}

function schemaText(json: Json): string {
  if (json === false) return "Type.Never()";
  const schema = json as JsonObject;
  const options = optionsText(schema);
  if (typeof schema["$ref"] === "string") return refName(schema["$ref"]);
  if (Array.isArray(schema["allOf"])) return schemaText(schema["allOf"][0] as Json);
  if (Array.isArray(schema["oneOf"])) {
    return `Type.Union([${schema["oneOf"].map((member) => schemaText(member)).join(", ")}]${options})`;
  }
  if ("const" in schema) return `Type.Literal(${JSON.stringify(schema["const"])}${options})`;
  if (Array.isArray(schema["enum"])) {
    return `Type.Union([${schema["enum"].map((value) => `Type.Literal(${JSON.stringify(value)})`).join(", ")}]${options})`;
  }
  switch (schema["type"]) {
    case undefined:
      return `Type.Unknown(${options.slice(2)})`;
    case "array":
      return `Type.Array(${schemaText(schema["items"] as Json)}${options})`;
    case "object":
      return objectText(schema, options);
    default: {
      const type = String(schema["type"]);
      return `Type.${type.charAt(0).toUpperCase()}${type.slice(1)}(${options.slice(2)})`;
    }
  }
}

function objectText(schema: JsonObject, options: string): string {
  const properties = Object.entries((schema["properties"] ?? {}) as JsonObject);
  if (properties.length === 0) return `Type.Record(Type.String(), Type.Unknown()${options})`;
  const required = (schema["required"] ?? []) as string[];
  const members = properties.map(([name, property]) => {
    const text = schemaText(property);
    return `${propertyKey(name)}: ${required.includes(name) ? text : `Type.Optional(${text})`}`;
  });
  return `Type.Object({ ${members.join(", ")} }${options})`;
}

function optionsText(schema: JsonObject): string {
  const kept = KEPT.filter((keyword) => schema[keyword] !== undefined).map(
    (keyword) => `${keyword}: ${JSON.stringify(schema[keyword])}`,
  );
  return kept.length === 0 ? "" : `, { ${kept.join(", ")} }`;
}

function* referredNames(value: Json): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "$ref" && typeof member === "string") yield refName(member);
    else yield* referredNames(member);
  }
}

function refName(ref: string): string {
  return ref.replace("#/definitions/", "");
}
