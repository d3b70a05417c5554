import { type Change, type Finding, toChange } from "./diff-change.ts";
import { definitionParties, usesOf } from "./diff-parties.ts";
import { isEquivalent, type SchemaComparison } from "./diff-schemas.ts";
import { SURFACE_FILE } from "./load.ts";
import type { Definition, Model } from "./model.ts";
import { pointerTo } from "./problem.ts";

/** Changes of the definitions, each where it stands: one that is used inside others is judged for those who send them. */
export function* compareDefinitions(before: Model, after: Model, schemas: SchemaComparison): Generator<Change> {
  const from = new Map(before.definitions.map((definition) => [definition.name, definition]));
  const to = new Map(after.definitions.map((definition) => [definition.name, definition]));
  const partiesBefore = definitionParties(before);
  const partiesAfter = definitionParties(after);
  const used = usesOf(before);
  const added = [...to.values()].filter(({ name }) => !from.has(name));
  const renamed = new Set<string>();

  const change = (name: string, { keys, ...finding }: Finding): Change => {
    const parties = from.has(name) ? partiesBefore(name) : partiesAfter(name);
    const pointer = pointerTo("definitions", name, ...keys);
    return toChange({ file: SURFACE_FILE, pointer, subject: name, parties }, finding);
  };

  for (const [name, definition] of from) {
    const now = to.get(name);
    if (now !== undefined) {
      for (const finding of schemas.compare(definition.json, now.json)) yield change(name, finding);
      continue;
    }
    const other = added.find((candidate) => !renamed.has(candidate.name) && isRenamed(definition, candidate, schemas));
    if (other !== undefined) {
      renamed.add(other.name);
      yield change(name, { keys: [], what: `is called ${other.name} now`, breaks: "nobody", prose: true });
    } else if (used.has(name)) {
      // Whatever held it holds something else now, and is judged there.
      yield change(name, { keys: [], what: "definition removed; judged where it was used", breaks: "nobody" });
    } else yield change(name, { keys: [], what: "definition removed", breaks: "both" });
  }
  for (const { name } of added) {
    if (!renamed.has(name)) yield change(name, { keys: [], what: "new definition", breaks: "nobody" });
  }
}

function isRenamed(from: Definition, to: Definition, schemas: SchemaComparison): boolean {
  return isEquivalent(schemas.compare(from.json, to.json));
}
