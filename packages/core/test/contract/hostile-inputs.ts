import fc from "fast-check";
import { readExamples } from "./example-files.ts";
import { definitions } from "./plain-schema.ts";

/** A value for a parser. */
export interface Input {
  readonly value: unknown;
  /** It could have come as JSON text. */
  readonly json: boolean;
}

/** Text that stands for a secret: wherever it is put, no issue and no error may show it. */
export const secret = "tok_live_4f9c81d2e7a6b350";

/** Members of every object that must never be taken for data, and aliases that must. */
const keys = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  "~/",
  secret,
  ...new Set(names(definitions)),
);

const scalars = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, 1, 1.5, -1, 409, 2 ** 53 - 1, 2 ** 53, 1e308),
  fc.constantFrom<unknown>("", " ", "2.0", "agent", "\ud800", "\u0000", " Created ", "null", "[]", "{}", secret),
  fc.constantFrom(1, 16, 64, 128, 256, 512, 1_024, 4_096, 16_384).map((length) => secret.padEnd(length + 1, "x")),
  fc.constantFrom(64, 128, 256).map((length) => "é".repeat(length)),
  fc.string({ unit: "binary", maxLength: 20 }),
);

const payloads = fc.oneof(
  { weight: 4, arbitrary: scalars },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({}, [], [null], [[]], { code: "conflict" }, { id: secret }) },
);

type Mutation =
  | { readonly kind: "drop" | "repeat" | "toText"; readonly at: number }
  | { readonly kind: "replace" | "put"; readonly at: number; readonly payload: unknown }
  | { readonly kind: "rename"; readonly at: number; readonly key: string }
  | { readonly kind: "add"; readonly at: number; readonly key: string; readonly payload: unknown }
  | { readonly kind: "nest"; readonly at: number; readonly depth: number; readonly key: string };

const at = fc.nat();
const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("drop" as const, "repeat" as const, "toText" as const), at }),
  fc.record({ kind: fc.constant("replace" as const), at, payload: payloads }),
  fc.record({ kind: fc.constant("rename" as const), at, key: keys }),
  fc.record({ kind: fc.constant("add" as const), at, key: keys, payload: payloads }),
  fc.record({
    kind: fc.constant("nest" as const),
    at,
    depth: fc.constantFrom(1, 2, 61, 62, 63, 64, 65, 125, 126, 127, 128, 129, 400),
    key: keys,
  }),
);

const exotic = fc.anything({
  maxDepth: 3,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
} as fc.ObjectConstraints);

const MAX_EXAMPLE_TEXT = 8_192;
const texts = new Map<string, string[]>();
for (const { definition, value, hasExpected, expected } of readExamples("valid")) {
  const own = texts.get(definition) ?? [];
  for (const example of hasExpected ? [value, expected] : [value]) own.push(JSON.stringify(example));
  texts.set(
    definition,
    own.filter((text) => text.length <= MAX_EXAMPLE_TEXT),
  );
}
const allTexts = [...texts.values()].flat();

/** Values for the parser of a definition: most of them are its own examples, changed a little. */
export function hostileInputs(definition: string): fc.Arbitrary<Input> {
  const own = texts.get(definition) ?? [];
  const changed = (from: readonly string[], maxLength: number) =>
    fc
      .tuple(fc.constantFrom(...from), fc.array(mutations, { maxLength }))
      .map(([text, changes]) => ({ value: changes.reduce(mutate, JSON.parse(text)), json: true }));
  return fc.oneof(
    { weight: 8, arbitrary: changed(own, 3) },
    { weight: 1, arbitrary: changed(allTexts, 2) },
    { weight: 1, arbitrary: payloads.map((value) => ({ value: fresh(value), json: true })) },
    { weight: 1, arbitrary: exotic.map((value) => ({ value, json: false })) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...own), at, exotic).map(([text, place, payload]) => ({
        value: mutate(JSON.parse(text), { kind: "put", at: place, payload }),
        json: false,
      })),
    },
  );
}

interface Slot {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string;
}

/** Changes a value in one place. The root counts as a place: it stands in a holder of its own. */
function mutate(root: unknown, mutation: Mutation): unknown {
  const top = { root };
  const slots = slotsOf(top);
  const { holder, key } = slots[mutation.at % slots.length] as Slot;
  const current = (holder as Record<string, unknown>)[key];
  switch (mutation.kind) {
    case "drop":
      if (holder !== top) remove(holder, key);
      break;
    case "repeat":
      if (Array.isArray(holder)) holder.push(current);
      else put(holder, key, [current, current]);
      break;
    case "toText":
      put(holder, key, JSON.stringify(current));
      break;
    case "put":
      put(holder, key, mutation.payload);
      break;
    case "replace":
      put(holder, key, fresh(mutation.payload));
      break;
    case "rename":
      if (holder === top || Array.isArray(holder)) break;
      remove(holder, key);
      put(holder, mutation.key, current);
      break;
    case "add":
      if (typeof current === "object" && current !== null) put(current, mutation.key, fresh(mutation.payload));
      break;
    case "nest":
      put(holder, key, nested(current, mutation.depth, mutation.key));
      break;
    default:
      mutation satisfies never;
  }
  return top.root;
}

function slotsOf(top: Record<string, unknown>): Slot[] {
  const slots: Slot[] = [];
  const open: object[] = [top];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const [key, member] of Object.entries(holder)) {
      slots.push({ holder: holder as Slot["holder"], key });
      if (typeof member === "object" && member !== null) open.push(member);
    }
  }
  return slots;
}

/** Defines an own member, as JSON.parse does: an assignment to __proto__ would change the prototype. */
function put(holder: object, key: string, value: unknown): void {
  const place = Array.isArray(holder) && !/^\d+$/.test(key) ? String(holder.length) : key;
  Object.defineProperty(holder, place, { value, writable: true, enumerable: true, configurable: true });
}

/** Payloads are chosen from constants, and each input is frozen: every use needs its own. */
function fresh(payload: unknown): unknown {
  return structuredClone(payload);
}

function remove(holder: Slot["holder"], key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function nested(value: unknown, depth: number, key: string): unknown {
  let outer = value;
  for (let level = 0; level < depth; level++) {
    if (level % 2 === 0) outer = [outer];
    else {
      const holder = {};
      put(holder, key, outer);
      outer = holder;
    }
  }
  return outer;
}

/** Every name under which something is looked for. */
function* names(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, member] of Object.entries(schema)) {
    if (key === "properties") yield* Object.keys(member as object);
    if (key === "x-read-from" || key === "x-inverse-from")
      for (const path of member as string[]) yield* path.split("/");
    yield* names(member);
  }
}
