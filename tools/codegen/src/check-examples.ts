import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import type { Json, JsonObject, Spec } from "./load.ts";
import { RELAY_FILE } from "./load.ts";
import type { Model } from "./model.ts";
import { type Problem, pointerTo, SpecError } from "./problem.ts";

/** Examples in the AsyncAPI document against their payloads, and example folders against the names of definitions. */
export async function checkExamples({ surface, relay }: Spec, model: Model, specDirectory: string): Promise<void> {
  const problems = [...messageProblems(surface, relay), ...(await folderProblems(model, specDirectory))];
  if (problems.length > 0) throw new SpecError(problems);
}

/** The official parser does not hold examples against schemas. */
function messageProblems(surface: JsonObject, relay: JsonObject): Problem[] {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ ...surface, $id: "surface.schema.json" });
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

async function folderProblems(model: Model, specDirectory: string): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const kind of ["valid", "invalid"]) {
    const folders = await readdir(join(specDirectory, "examples", kind)).catch(() => []);
    for (const folder of folders) {
      const file = `examples/${kind}/${folder}`;
      if (!model.definitions.some(({ name }) => name === folder)) {
        problems.push({ file, pointer: "", message: "there is no definition of this name" });
        continue;
      }
      for (const name of await readdir(join(specDirectory, file))) {
        try {
          JSON.parse(await readFile(join(specDirectory, file, name), "utf8"));
        } catch (cause) {
          problems.push({ file: `${file}/${name}`, pointer: "", message: String(cause) });
        }
      }
    }
  }
  return problems;
}
