import type { SourceFile } from "./file.ts";
import type { Conversion, Definition, Field, Model, Parsing } from "./model.ts";
import { validatorName } from "./print-validators.ts";

const RUNTIME = "../parse/runtime.ts";
const PURE = "/* @__PURE__ */";

/** parsers.ts: one `parseX` and one `safeParseX` for every definition. */
export function printParsers(model: Model, file: SourceFile): void {
  const byName = new Map(model.definitions.map((definition) => [definition.name, definition]));
  const printed = new Set<string>();
  const print = (definition: Definition): void => {
    if (printed.has(definition.name)) return;
    printed.add(definition.name);
    for (const name of readerNames(definition.parse)) {
      const target = byName.get(name);
      if (target !== undefined) print(target);
    }
    printParser(definition, model, file);
  };
  for (const definition of model.definitions) print(definition);
}

function printParser({ name, parse }: Definition, model: Model, file: SourceFile): void {
  const type = file.type("./types.ts", name);
  const parsed = file.type(RUNTIME, "Parsed");
  file.print(
    `const read${name}: ${file.type(RUNTIME, "Read")}<${type}> = ${PURE} ${readerText(name, parse, model, file)};`,
    "",
  );
  file.doc(`Reads a {@link ${name}}, or says what is wrong with it. Never throws.`);
  file.print(`export function safeParse${name}(input: unknown): ${parsed}<${type}> {`);
  file.print(`  return ${file.value(RUNTIME, "safeParse")}(read${name}, input);`, "}", "");
  file.doc(`Reads a {@link ${name}}.\n@throws HumanPlusError \`malformed_message\`, with the issues`);
  file.print(`export function parse${name}(input: unknown): ${type} {`);
  file.print(`  return ${file.value(RUNTIME, "unwrap")}("${name}", safeParse${name}(input));`, "}", "");
}

function readerText(name: string, parse: Parsing, model: Model, file: SourceFile): string {
  const validator = (definition: string, member?: string) =>
    file.value("./validators.ts", validatorName(definition, member));
  switch (parse.kind) {
    case "checked":
      return `${file.value(RUNTIME, "checked")}(${validator(name)})`;
    case "selected": {
      const choices = parse.choices.map(({ keys, use }) => `[${JSON.stringify(keys)}, ${validator(use)}]`);
      return `${file.value(RUNTIME, "selected")}([${choices.join(", ")}])`;
    }
    case "tagged": {
      const choices = parse.choices.map(({ value, use }) => `[${JSON.stringify(value)}, ${validator(use)}]`);
      return `${file.value(RUNTIME, "tagged")}("${parse.tag}", ${PURE} new Map([${choices.join(", ")}]))`;
    }
    case "scalar": {
      const conversion = conversionText(parse.conversion);
      return `${file.value(RUNTIME, "scalarReader")}(${conversion}, ${JSON.stringify(parse.otherwise)}, ${validator(name)})`;
    }
    case "reader": {
      const fields = parse.fields.map((field) => fieldText(name, field, model, file));
      const options = JSON.stringify({ maxDepth: parse.maxDepth, wrapping: parse.wrap });
      return `${file.value(RUNTIME, "objectReader")}([${fields.join(", ")}], ${options})`;
    }
    default:
      return parse satisfies never;
  }
}

function fieldText(definition: string, field: Field, model: Model, file: SourceFile): string {
  const parts = [
    `name: ${JSON.stringify(field.name)}`,
    `required: ${field.required}`,
    `from: ${JSON.stringify(field.from)}`,
  ];
  if (field.inverseFrom.length > 0) parts.push(`inverseFrom: ${JSON.stringify(field.inverseFrom)}`);
  if (field.firstPresent) parts.push("firstPresent: true");
  if (field.conversion !== undefined) parts.push(`text: ${conversionText(field.conversion)}`);
  if (field.otherwise !== undefined) parts.push(`otherwise: ${JSON.stringify(field.otherwise)}`);
  if (field.malformed !== undefined) parts.push(`malformed: ${JSON.stringify(field.malformed)}`);
  if (field.reader !== undefined) parts.push(`read: read${field.reader}`);
  if (field.list !== undefined) {
    const { item, maxItems, counter, embedded } = field.list;
    const bytes = embedded ? `, embeddedBytes: ${model.limits.get("frameBytes")}` : "";
    parts.push(`list: { item: read${item}, maxItems: ${maxItems}, counter: "${counter}"${bytes} }`);
  } else if (field.check !== undefined) {
    parts.push(`check: ${file.value("./validators.ts", validatorName(definition, field.name))}`);
  }
  return `{ ${parts.join(", ")} }`;
}

function conversionText({ coerce, trim, foldCase, words }: Conversion): string {
  const parts: string[] = [];
  if (coerce) parts.push("coerce: true");
  if (trim) parts.push("trim: true");
  if (foldCase) parts.push("foldCase: true");
  if (words !== undefined) parts.push(`words: ${PURE} new Map(${JSON.stringify([...words])})`);
  return `{ ${parts.join(", ")} }`;
}

/** Readers that must stand above this one. */
function readerNames(parse: Parsing): string[] {
  if (parse.kind !== "reader") return [];
  return parse.fields.flatMap(({ reader, list }) => [reader, list?.item]).filter((name) => name !== undefined);
}
