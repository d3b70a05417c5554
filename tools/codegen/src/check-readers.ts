import { Ajv } from "ajv";
import { type Json, type JsonObject, SURFACE_FILE } from "./load.ts";
import { lastName } from "./names.ts";
import { type Problem, pointerTo } from "./problem.ts";

type Keys = ReadonlyArray<string | number>;

/** Where the generator looks for a keyword; anywhere else it would say nothing and do nothing. */
const PLACES: Readonly<Record<string, ReadonlySet<Place>>> = {
  "x-places": new Set(["definition"]),
  "x-wrap": new Set(["definition"]),
  "x-tag": new Set(["definition"]),
  "x-select": new Set(["definition"]),
  "x-sent-by": new Set(["definition"]),
  "x-constants": new Set(["definition"]),
  "x-fold-case": new Set(["definition"]),
  "x-vocabulary": new Set(["definition", "property"]),
  "x-otherwise": new Set(["definition", "property"]),
  "x-read-from": new Set(["property"]),
  "x-inverse-from": new Set(["property"]),
  "x-first": new Set(["property"]),
  "x-malformed": new Set(["property"]),
  "x-coerce": new Set(["property"]),
  "x-trim": new Set(["property"]),
  "x-drop-invalid": new Set(["property"]),
  "x-embedded-json": new Set(["element"]),
};

/** Keywords of a property that only mean something where `x-read-from` says what to read. */
const OF_CANDIDATES: readonly string[] = [
  "x-inverse-from",
  "x-first",
  "x-malformed",
  "x-coerce",
  "x-trim",
  "x-vocabulary",
  "x-otherwise",
  "x-drop-invalid",
];

/** A definition, one of its own properties, an element of a property with `x-drop-invalid`, or deeper. */
type Place = "definition" | "property" | "element" | "inside";

/** What the keywords of readers say that no parser could do. PROTOCOL.md section 9. */
export function readerProblems(surface: JsonObject): Problem[] {
  const definitions = surface["definitions"] as JsonObject;
  const readers = readerNames(definitions);
  const validate = createCheck(surface);
  const problems: Problem[] = [];
  const fail = (keys: Keys, message: string) => {
    problems.push({ file: SURFACE_FILE, pointer: pointerTo(...keys), message });
  };
  const visit = (json: Json, keys: Keys, place: Place): void => {
    if (typeof json !== "object" || json === null || Array.isArray(json)) return;
    checkPlaces(json, keys, place, fail);
    checkWords(json, keys, fail);
    for (const keyword of ["x-otherwise", "x-malformed"]) {
      if (json[keyword] === undefined) continue;
      if (!validate(keys, json[keyword]))
        fail([...keys, keyword], `${keyword} is a value that the schema itself refuses`);
    }
    const ref = json["$ref"];
    if (place === "inside" && typeof ref === "string" && readers.has(lastName(ref))) {
      fail([...keys, "$ref"], `${lastName(ref)} is a reader, and nothing reads it here`);
    }
    for (const [name, property] of Object.entries((json["properties"] ?? {}) as JsonObject)) {
      visit(property, [...keys, "properties", name], place === "definition" ? "property" : "inside");
    }
    const isRead = place === "property" && json["x-drop-invalid"] !== undefined;
    visit(json["items"] ?? null, [...keys, "items"], isRead ? "element" : "inside");
    for (const [index, member] of ((json["oneOf"] ?? []) as Json[]).entries()) {
      visit(member, [...keys, "oneOf", index], "inside");
    }
    for (const [index, member] of ((json["allOf"] ?? []) as Json[]).entries()) {
      visit(member, [...keys, "allOf", index], place);
    }
  };
  for (const [name, json] of Object.entries(definitions)) visit(json, ["definitions", name], "definition");
  return problems;
}

type Fail = (keys: Keys, message: string) => void;

function checkPlaces(json: JsonObject, keys: Keys, place: Place, fail: Fail): void {
  for (const keyword of Object.keys(json)) {
    if (Object.hasOwn(PLACES, keyword) && !PLACES[keyword]?.has(place)) {
      fail([...keys, keyword], `${keyword} does not work here`);
    }
  }
  if (place !== "property" || json["x-read-from"] !== undefined) return;
  for (const keyword of OF_CANDIDATES) {
    if (json[keyword] !== undefined) fail([...keys, keyword], `${keyword} needs x-read-from beside it`);
  }
}

function checkWords(json: JsonObject, keys: Keys, fail: Fail): void {
  const values = json["enum"] as Json[] | undefined;
  const meanings = new Map<string, string>();
  for (const [value, words] of Object.entries((json["x-vocabulary"] ?? {}) as Record<string, string[]>)) {
    const at = [...keys, "x-vocabulary", value];
    if (!values?.includes(value)) fail(at, `${value} is no value of the enumeration`);
    for (const word of words) {
      if (word !== word.trim().toLowerCase()) fail(at, `${word} never matches: words are trimmed and in lower case`);
      const other = meanings.get(word);
      if (other !== undefined) fail(at, `${word} means ${other} already`);
      meanings.set(word, value);
    }
  }
}

/** Definitions whose parser gives something else than what went in, by themselves or through what they hold. */
function readerNames(definitions: JsonObject): Set<string> {
  const readers = new Set<string>();
  const isReader = (json: Json): boolean => {
    if (typeof json !== "object" || json === null) return false;
    if (Array.isArray(json)) return json.some(isReader);
    return Object.entries(json).some(([key, value]) =>
      key === "$ref"
        ? readers.has(lastName(String(value)))
        : ["x-read-from", "x-wrap", "x-fold-case", "x-vocabulary"].includes(key) || isReader(value),
    );
  };
  for (let size = -1; size !== readers.size; ) {
    size = readers.size;
    for (const [name, json] of Object.entries(definitions)) if (isReader(json)) readers.add(name);
  }
  return readers;
}

function createCheck(surface: JsonObject): (keys: Keys, value: Json) => boolean {
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema({ ...surface, $id: "contract" });
  return (keys, value) => ajv.validate({ $ref: `contract#${encodeURI(pointerTo(...keys))}` }, value);
}
