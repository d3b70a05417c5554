import { describeValue, type Issue, Notes, type Parsed, type Place, pointerOf } from "./issue.ts";
import { FORBIDDEN_KEY, isShallow, parseJsonText } from "./json.ts";
import { explain, hasOwn, type Read, type Validator } from "./validator.ts";

/** How one member of a value is read. PROTOCOL.md section 9 gives the meaning of each part. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  /** Candidates in order, each a path of keys. */
  readonly from: ReadonlyArray<readonly string[]>;
  /** Candidates after those, whose boolean counts inverted. */
  readonly inverseFrom?: ReadonlyArray<readonly string[]>;
  /** The first candidate that is there decides, readable or not. Otherwise the first readable one does. */
  readonly firstPresent?: boolean;
  readonly text?: Conversion;
  readonly otherwise?: unknown;
  readonly malformed?: unknown;
  /** What the member's schema says; absent where anything goes. */
  readonly check?: Validator;
  /** The member has a reader of its own. */
  readonly read?: Read<unknown>;
  readonly list?: ListRule;
}

/** How a candidate becomes text. */
export interface Conversion {
  /** Numbers are taken as decimal text. */
  readonly coerce?: boolean;
  readonly trim?: boolean;
  readonly foldCase?: boolean;
  /** Lower-case words and what each of them means. */
  readonly words?: ReadonlyMap<string, unknown>;
}

interface ListRule {
  readonly item: Read<unknown>;
  readonly maxItems: number;
  /** Sibling that counts what was left out. */
  readonly counter: string;
  /** Elements may be JSON texts, of at most this many bytes. */
  readonly embeddedBytes?: number;
}

/** An input that is no object yet, and the member under which it is read. */
interface Wrapping {
  readonly into: string;
  readonly list: boolean;
  readonly having: string;
}

/** Text that no rule can read. */
const UNREADABLE = Symbol("unreadable");

/** Rules whose breach ends the search: the member was meant, and is too large. */
const BOUNDS: ReadonlySet<string> = new Set(["maxLength", "maxItems", "x-max-bytes", "x-max-depth"]);

export interface ObjectReaderOptions {
  /** How deep the input may nest as a whole. @default unbounded */
  readonly maxDepth?: number;
  /** @default the input is read as it is */
  readonly wrapping?: Wrapping;
}

const NO_NOTICES: readonly Issue[] = Object.freeze([]);

/** Runs a reader. */
export function safeParse<T>(read: Read<T>, input: unknown): Parsed<T> {
  let notes: Notes;
  let value: T | undefined;
  try {
    if (read.accepts?.(input) === true) return { ok: true, value: input as T, notices: NO_NOTICES };
    notes = new Notes();
    value = read(input, undefined, notes);
  } catch {
    // A getter or a proxy of the caller's own; nothing that came as JSON text can do that.
    const issue = { pointer: "", rule: "type", expected: "a value that can be read", received: "one that throws" };
    return { ok: false, issues: [issue] };
  }
  return value === undefined ? { ok: false, issues: notes.issues } : { ok: true, value, notices: notes.notices };
}

/** A reader for an object: builds a fresh one that holds the named members only, and reads own members only. */
export function objectReader<T>(fields: readonly Field[], { maxDepth, wrapping }: ObjectReaderOptions = {}): Read<T> {
  return (input, place, notes) => {
    if (maxDepth !== undefined && !isShallow(input, maxDepth)) {
      const expected = `at most ${maxDepth} levels and no ${FORBIDDEN_KEY} key`;
      return notes.refuse({ pointer: pointerOf(place), rule: "x-max-depth", expected, received: describeValue(input) });
    }
    const source = wrapping === undefined ? input : wrap(input, wrapping);
    if (typeof source !== "object" || source === null || Array.isArray(source)) {
      return notes.refuse({
        pointer: pointerOf(place),
        rule: "type",
        expected: "object",
        received: describeValue(input),
      });
    }
    const value: Record<string, unknown> = {};
    const leftOut: Array<readonly [counter: string, count: number]> = [];
    for (const field of fields) {
      const { list } = field;
      if (list !== undefined) {
        leftOut.push([list.counter, readList(field, list, source, value, place, notes)]);
      } else if (!readMember(field, source, value, place, notes)) return undefined;
    }
    for (const [counter, count] of leftOut) {
      value[counter] = Math.min(Number.MAX_SAFE_INTEGER, (value[counter] as number) + count);
    }
    return value as T;
  };
}

/** A reader for a single value with a vocabulary. */
export function scalarReader<T>(conversion: Conversion, otherwise: unknown, check: Validator): Read<T> {
  return (input, place, notes) => {
    const text = convert(input, conversion);
    if (text !== UNREADABLE && check(text)) return text as T;
    if (otherwise !== undefined && (typeof input === "string" || typeof input === "number")) return otherwise as T;
    check(input);
    return notes.refuse(explain(check, input, place));
  };
}

function wrap(input: unknown, { into, list, having }: Wrapping): unknown {
  if (list && Array.isArray(input)) return { [into]: input };
  return hasOwn(input, having) ? { [into]: [input] } : input;
}

function readMember(
  field: Field,
  source: object,
  value: Record<string, unknown>,
  place: Place | undefined,
  notes: Notes,
): boolean {
  const { name, required, from, inverseFrom = [], firstPresent = false, otherwise, malformed } = field;
  let problem: Issue | undefined;
  for (let index = 0; index < from.length + inverseFrom.length; index++) {
    const inverse = index >= from.length;
    const path = (inverse ? inverseFrom[index - from.length] : from[index]) as readonly string[];
    const candidate = lookUp(source, path);
    if (candidate === undefined) continue;
    const reading = readCandidate(field, inverse, candidate, path, place, notes);
    if (reading.ok) {
      value[name] = reading.value;
      return true;
    }
    problem = reading.issue;
    if (BOUNDS.has(problem.rule)) break;
    if (firstPresent && malformed !== undefined) {
      value[name] = malformed;
      return true;
    }
    if (firstPresent) break;
    problem = undefined;
  }
  if (problem === undefined && otherwise !== undefined) {
    value[name] = copyOf(otherwise);
    return true;
  }
  if (!required) {
    if (problem !== undefined) notes.notice(problem);
    return true;
  }
  notes.refuse(
    problem ?? {
      pointer: pointerOf({ parent: place, key: name }),
      rule: "required",
      expected: from.length > 1 ? `one of ${from.map((path) => path.join("/")).join(", ")}` : `${name} to be there`,
      received: "nothing that can be read",
    },
  );
  return false;
}

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issue: Issue };

function readCandidate(
  field: Field,
  inverse: boolean,
  candidate: unknown,
  path: readonly string[],
  place: Place | undefined,
  notes: Notes,
): Reading {
  const { text, check, read } = field;
  if (read !== undefined) {
    const own = new Notes();
    const value = read(candidate, placeAt(path, place), own);
    if (value === undefined) return { ok: false, issue: own.issues[0] as Issue };
    notes.absorb(own);
    return { ok: true, value };
  }
  const converted = text === undefined ? candidate : convert(candidate, text);
  if (converted === UNREADABLE) {
    const issue = {
      pointer: pointerOf(placeAt(path, place)),
      rule: "type",
      expected: "text or a whole number",
      received: describeValue(candidate),
    };
    return { ok: false, issue };
  }
  if (check !== undefined && !check(converted)) {
    return { ok: false, issue: explain(check, converted, placeAt(path, place)) };
  }
  return { ok: true, value: inverse ? !converted : converted };
}

/** Reads the rows of the first candidate that is a list, and says how many rows or lists could not be read. */
function readList(
  field: Field,
  { item, maxItems, embeddedBytes }: ListRule,
  source: object,
  value: Record<string, unknown>,
  place: Place | undefined,
  notes: Notes,
): number {
  let unreadable = 0;
  for (const path of field.from) {
    const candidate = lookUp(source, path);
    if (candidate === undefined) continue;
    const where = placeAt(path, place);
    if (!Array.isArray(candidate)) {
      unreadable++;
      notes.notice({ pointer: pointerOf(where), rule: "type", expected: "list", received: describeValue(candidate) });
      continue;
    }
    const rows: unknown[] = [];
    const length = Math.min(candidate.length, maxItems);
    let element = new Notes();
    for (let key = 0; key < length; key++) {
      const row = readElement(candidate[key], item, embeddedBytes, { parent: where, key }, element);
      if (row === undefined) unreadable++;
      else rows.push(row);
      if (element.isEmpty) continue;
      notes.absorb(element);
      element = new Notes();
    }
    value[field.name] = rows;
    if (candidate.length > maxItems) {
      notes.notice({
        pointer: pointerOf(where),
        rule: "maxItems",
        expected: `at most ${maxItems} elements`,
        received: describeValue(candidate),
      });
    }
    return unreadable + candidate.length - length;
  }
  value[field.name] = [];
  if (unreadable > 0 || field.otherwise !== undefined) return unreadable;
  const pointer = pointerOf({ parent: place, key: field.name });
  notes.notice({ pointer, rule: "required", expected: "list", received: "nothing" });
  return 1;
}

function readElement(
  input: unknown,
  item: Read<unknown>,
  embeddedBytes: number | undefined,
  place: Place,
  notes: Notes,
): unknown {
  if (embeddedBytes === undefined || typeof input !== "string") return item(input, place, notes);
  const parsed = parseJsonText(input, embeddedBytes);
  if (parsed.ok) return item(parsed.value, place, notes);
  for (const issue of parsed.issues) notes.refuse({ ...issue, pointer: pointerOf(place) });
  return undefined;
}

function convert(candidate: unknown, { coerce = false, trim = false, foldCase = false, words }: Conversion): unknown {
  let text: string;
  if (typeof candidate === "string") text = candidate;
  else if ((coerce || words !== undefined) && Number.isSafeInteger(candidate)) text = String(candidate);
  else return UNREADABLE;
  if (words !== undefined) {
    const word = text.trim().toLowerCase();
    return words.has(word) ? words.get(word) : UNREADABLE;
  }
  if (coerce && text.trim() === "") return UNREADABLE;
  if (trim) text = text.trim();
  return foldCase ? text.toLowerCase() : text;
}

/** The own member at a path. Most candidates are not there, and to find nothing is faster than to ask who owns it. */
function lookUp(source: object, path: readonly string[]): unknown {
  let value: unknown = source;
  for (const key of path) {
    const member = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    if (member === undefined || !hasOwn(value, key)) return undefined;
    value = member;
  }
  return value;
}

/** Only what is told to somebody needs its place. */
function placeAt(path: readonly string[], parent: Place | undefined): Place | undefined {
  return path.reduce<Place | undefined>((inner, key) => ({ parent: inner, key }), parent);
}

/** Each value gets a default of its own: what one caller does to it must not reach the next. */
function copyOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}
