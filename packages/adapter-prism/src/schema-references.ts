import type { HostJsonObject, JsonValue } from "./host.ts";

interface Reference {
  readonly holder: HostJsonObject;
  /** JSON Pointer of the holder. */
  readonly at: string;
  /** JSON Pointer of what it stands for; nothing where there is no such place. */
  readonly target: string | undefined;
}

/** What the host's validator takes. */
const MAX_REFERENCES = 128;
/** Schemas that a reader would meet who put in place of each reference what it stands for. */
const MAX_EXPANDED = 1000;

/**
 * Removes references that a validator could not follow to an end: elsewhere, nowhere, in a circle, or to more than can be
 * put in their place. What a removed one stood for is then not described: anything may stand there.
 */
export function removeReferences(schema: HostJsonObject): void {
  const references: Reference[] = [];
  collect(schema, "", schema, references);
  const isBomb = references.length > MAX_REFERENCES;
  const leadsBack = isBomb ? () => true : circles(references);
  for (const reference of references)
    if (reference.target === undefined || leadsBack(reference)) delete reference.holder["$ref"];
  const left = references.filter(({ holder }) => "$ref" in holder);
  if (expanded("", left, new Map()) > MAX_EXPANDED) for (const { holder } of left) delete holder["$ref"];
}

function collect(value: JsonValue, at: string, root: HostJsonObject, references: Reference[]): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && typeof value["$ref"] === "string")
    references.push({ holder: value, at, target: resolve(value["$ref"], root) });
  for (const [key, child] of Object.entries(value)) collect(child, `${at}/${escapeToken(key)}`, root, references);
}

/** The pointer of the place that a local reference names, if there is a schema. */
function resolve(reference: string, root: HostJsonObject): string | undefined {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let place: JsonValue | undefined = root;
  let pointer = "";
  for (const token of reference.split("/").slice(1)) {
    const key = unescapeToken(token);
    if (key === undefined || typeof place !== "object" || place === null || !Object.hasOwn(place, key))
      return undefined;
    place = (place as HostJsonObject)[key];
    pointer += `/${escapeToken(key)}`;
  }
  return typeof place === "object" && place !== null && !Array.isArray(place) ? pointer : undefined;
}

/** Whether what a reference stands for holds, however far on, the reference itself. */
function circles(references: readonly Reference[]): (reference: Reference) => boolean {
  return ({ at, target }) => {
    const seen = new Set<string>();
    const waiting = [target];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (contains(place, at)) return true;
      if (seen.has(place)) continue;
      seen.add(place);
      for (const next of references) if (contains(place, next.at)) waiting.push(next.target);
    }
    return false;
  };
}

function expanded(place: string, references: readonly Reference[], known: Map<string, number>): number {
  const before = known.get(place);
  if (before !== undefined) return before;
  let count = 1;
  for (const { at, target } of references)
    if (target !== undefined && contains(place, at)) count += expanded(target, references, known);
  known.set(place, count);
  return count;
}

function contains(place: string, at: string): boolean {
  return at === place || at.startsWith(`${place}/`);
}

function escapeToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeToken(token: string): string | undefined {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
