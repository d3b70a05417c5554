import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import type { Json, JsonObject, Spec } from "./load.ts";
import { RELAY_FILE, SURFACE_FILE } from "./load.ts";
import type { Model } from "./model.ts";
import { type Problem, pointerTo, SpecError } from "./problem.ts";

/** Examples in the AsyncAPI document against their payloads, and example folders against the names of definitions. */
export async function checkExamples({ surface, relay }: Spec, model: Model, specDirectory: string): Promise<void> {
  const problems = [...messageProblems(surface, relay), ...(await folderProblems(surface, model, specDirectory))];
  if (problems.length > 0) throw new SpecError(problems);
}

/** The official parser does not hold examples against schemas. */
function messageProblems(surface: JsonObject, relay: JsonObject): Problem[] {
  const ajv = schemaValidator(surface);
  const problems: Problem[] = [];
  const messages = ((relay["components"] as JsonObject)["messages"] ?? {}) as JsonObject;
  for (const [name, message] of Object.entries(messages)) {
    const { payload, examples = [] } = message as { payload?: JsonObject; examples?: JsonObject[] };
    if (payload === undefined) continue;
    const validate = ajv.compile(relocated(payload) as JsonObject);
    for (const [index, example] of examples.entries()) {
      if (!validate(example["payload"])) {
        const pointer = pointerTo("components", "messages", name, "examples", index, "payload");
        problems.push({
          file: RELAY_FILE,
          pointer,
          message: `the example disagrees with its schema: ${complaint(validate)}`,
        });
      }
    }
  }
  return problems;
}

function complaint(validate: ValidateFunction): string {
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.message}`;
}

function relocated(value: Json): Json {
  if (Array.isArray(value)) return value.map(relocated);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === "$ref" ? String(member).replace(/^\.\//, "") : relocated(member),
    ]),
  );
}

/**
 * Files under examples/: each belongs to a definition, is JSON, and agrees with its schema where plain JSON Schema can say so:
 * a valid one of a definition that is only checked, and what comes out of a reader. What is left needs the parsers: their
 * tests hold every file.
 */
async function folderProblems(surface: JsonObject, model: Model, specDirectory: string): Promise<Problem[]> {
  const ajv = schemaValidator(surface);
  const definitions = new Map(model.definitions.map((definition) => [definition.name, definition]));
  const problems: Problem[] = [];
  for (const kind of ["valid", "invalid"]) {
    const folders = await readdir(join(specDirectory, "examples", kind)).catch(() => []);
    for (const folder of folders) {
      const definition = definitions.get(folder);
      if (definition === undefined) {
        problems.push({
          file: `examples/${kind}/${folder}`,
          pointer: "",
          message: "there is no definition of this name",
        });
        continue;
      }
      const isReader = definition.parse.kind === "reader" || definition.parse.kind === "scalar";
      const validate = ajv.compile({ $ref: `${SURFACE_FILE}#${pointerTo("definitions", folder)}` });
      const names = await readdir(join(specDirectory, "examples", kind, folder));
      const examples = names.map(
        async (name) => [name, await readJson(join(specDirectory, "examples", kind, folder, name))] as const,
      );
      for (const [name, example] of await Promise.all(examples)) {
        const file = `examples/${kind}/${folder}/${name}`;
        if ("problem" in example) problems.push({ file, pointer: "", message: example.problem });
        else if (kind === "valid" && isReader === name.endsWith(".expected.json") && !validate(example.value)) {
          const { instancePath = "", message } = validate.errors?.[0] ?? {};
          problems.push({ file, pointer: instancePath, message: `the example disagrees with its schema: ${message}` });
        }
      }
    }
  }
  return problems;
}

async function readJson(path: string): Promise<{ value: unknown } | { problem: string }> {
  try {
    return { value: JSON.parse(await readFile(path, "utf8")) };
  } catch (cause) {
    return { problem: String(cause) };
  }
}

/** JSON Schema as anybody reads it: the vendor keywords say nothing to it. */
function schemaValidator(surface: JsonObject): Ajv {
  const ajv = new Ajv({ strict: false, validateFormats: false, inlineRefs: false, validateSchema: false });
  ajv.addSchema({ ...surface, $id: SURFACE_FILE });
  return ajv;
}
