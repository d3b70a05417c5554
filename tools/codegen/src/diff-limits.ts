import { asObject, type Change, type Parties, shown, toChange } from "./diff-change.ts";
import { definitionParties, joined } from "./diff-parties.ts";
import { type Json, SURFACE_FILE } from "./load.ts";
import type { ConstantTable, Model } from "./model.ts";
import { upperFirst } from "./names.ts";
import { pointerTo } from "./problem.ts";

type Entry = ConstantTable["entries"][number];

/** Changes of the tables of constants, such as the limits. */
export function* compareLimits(before: Model, after: Model): Generator<Change> {
  const parties = limitParties(before);
  for (const name of new Set([...before.constants, ...after.constants].map((table) => table.name))) {
    const from = entriesOf(before, name);
    const to = entriesOf(after, name);
    const place = (entry: string) => ({
      file: SURFACE_FILE,
      pointer: pointerTo("definitions", upperFirst(name), "properties", entry),
      subject: upperFirst(name),
      parties: parties(entry),
    });
    const renamed = new Map<string, string>();
    for (const entry of from.values()) {
      const now = to.get(entry.name);
      if (now !== undefined) {
        if (now.value !== entry.value) yield toChange(place(entry.name), valueChange(entry, now));
        if (now.description !== entry.description) {
          yield toChange(place(entry.name), { what: `${entry.name}: other words`, breaks: "nobody", prose: true });
        }
        continue;
      }
      const other = [...to.values()].find((candidate) => !from.has(candidate.name) && isSameLimit(candidate, entry));
      if (other === undefined) yield toChange(place(entry.name), { what: `${entry.name} removed`, breaks: "both" });
      else {
        renamed.set(other.name, entry.name);
        const what = `${entry.name} is called ${other.name} now, with the same value`;
        yield toChange(place(other.name), { what, breaks: "nobody" });
      }
    }
    for (const entry of to.values()) {
      if (from.has(entry.name) || renamed.has(entry.name)) continue;
      // What a new limit bounds is judged where it is used.
      yield toChange(place(entry.name), { what: `new limit ${entry.name}`, breaks: "nobody" });
    }
  }
}

function entriesOf(model: Model, name: string): Map<string, Entry> {
  const table = model.constants.find((candidate) => candidate.name === name);
  return new Map((table?.entries ?? []).map((entry) => [entry.name, entry]));
}

function isSameLimit(a: Entry, b: Entry): boolean {
  return a.value === b.value && a.description === b.description;
}

function valueChange({ name, value: from }: Entry, { value: to }: Entry): Parameters<typeof toChange>[1] {
  const what = `${name}: ${shown(from)} became ${shown(to)}`;
  if (typeof from !== "number" || typeof to !== "number") return { what, breaks: "both" };
  return to < from ? { what: `${what}, lower`, breaks: "senders" } : { what: `${what}, higher`, breaks: "readers" };
}

/** Whoever sends or reads what a limit bounds; everybody, where only prose says what that is. */
function limitParties(model: Model): (limit: string) => Parties {
  const partiesOf = definitionParties(model);
  return (limit) =>
    joined(model.definitions.filter(({ json }) => isBoundBy(json, limit)).map(({ name }) => partiesOf(name)));
}

function isBoundBy(value: Json, limit: string): boolean {
  if (Array.isArray(value)) return value.some((item) => isBoundBy(item, limit));
  return Object.entries(asObject(value)).some(([key, member]) =>
    key === "x-max-bytes" || key === "x-max-depth" ? member === limit : isBoundBy(member, limit),
  );
}
