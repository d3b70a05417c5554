import type { SourceFile } from "./file.ts";
import type { Model, Property, Schema } from "./model.ts";
import { propertyKey } from "./names.ts";

/** types.ts: what a parser gives, with the contract's own words as doc comments. */
export function printTypes(model: Model, file: SourceFile): void {
  file.doc("JSON of any kind under a name.");
  file.print("export type JsonObject = Record<string, unknown>;", "");
  for (const { name, description, schema } of model.definitions) {
    file.doc(description);
    if (schema.kind === "object" && schema.properties.length > 0) {
      file.print(`export interface ${name} {`);
      printProperties(schema.properties, file, "  ");
      file.print("}", "");
    } else if (schema.kind === "literals" && schema.values.some((value) => value.description !== undefined)) {
      file.print(`export type ${name} =`);
      for (const { value, description: meaning } of schema.values) {
        file.doc(meaning, "  ");
        file.print(`  | ${JSON.stringify(value)}`);
      }
      file.print(";", "");
    } else {
      file.print(`export type ${name} = ${typeText(schema)};`, "");
    }
  }
}

function printProperties(properties: readonly Property[], file: SourceFile, indent: string): void {
  for (const { name, description, required, schema } of properties) {
    file.doc(description, indent);
    if (schema.kind === "object" && schema.properties.length > 0) {
      file.print(`${indent}${propertyKey(name)}${required ? "" : "?"}: {`);
      printProperties(schema.properties, file, `${indent}  `);
      file.print(`${indent}}${required ? "" : " | undefined"};`);
    } else {
      const optional = !required && schema.kind !== "any" && schema.kind !== "never";
      file.print(
        `${indent}${propertyKey(name)}${required ? "" : "?"}: ${typeText(schema)}${optional ? " | undefined" : ""};`,
      );
    }
  }
}

/** A schema as a TypeScript type on one line. */
export function typeText(schema: Schema): string {
  switch (schema.kind) {
    case "ref":
      return schema.name;
    case "scalar":
      return schema.type === "integer" ? "number" : schema.type;
    case "literals":
      return schema.values.map(({ value }) => JSON.stringify(value)).join(" | ");
    case "list":
      return schema.items.kind === "union" || schema.items.kind === "literals"
        ? `Array<${typeText(schema.items)}>`
        : `${typeText(schema.items)}[]`;
    case "union":
      return schema.members.map(typeText).join(" | ");
    case "any":
      return "unknown";
    case "never":
      return "undefined";
    case "object":
      if (schema.properties.length === 0) return "JsonObject";
      return `{ ${schema.properties.map(({ name, required, schema: type }) => `${propertyKey(name)}${required ? "" : "?"}: ${typeText(type)}`).join("; ")} }`;
    default:
      return schema satisfies never;
  }
}
