import { describe, expect, test } from "vitest";
import * as protocol from "../src/protocol.ts";
import { type Example, readExamples } from "./contract/example-files.ts";
import { parserOf } from "./contract/parser-table.ts";

const functions = protocol as unknown as Readonly<Record<string, unknown>>;
const guarded = [...readExamples("valid"), ...readExamples("invalid")].filter(
  ({ definition }) => guardOf(definition) !== undefined,
);

function guardOf(definition: string): ((input: unknown) => boolean) | undefined {
  return functions[`is${definition}`] as ((input: unknown) => boolean) | undefined;
}

describe("guards", () => {
  test("are there for what is only checked, and not for what is read", () => {
    expect(guardOf("Request")).toBeTypeOf("function");
    expect(guardOf("ChangeFeed")).toBeUndefined();
    expect(new Set(guarded.map(({ definition }) => definition)).size).toBeGreaterThan(30);
  });

  test("agree with the parsers about every example", () => {
    const differs = ({ definition, value }: Example) =>
      guardOf(definition)?.(value) !== parserOf(definition).safeParse(value).ok;
    expect(guarded.filter(differs).map(({ file }) => file)).toEqual([]);
  });

  test("agree with the parsers about every example with one of its members replaced", () => {
    const wrong: string[] = [];
    let compared = 0;
    for (const { definition, value, file } of guarded) {
      for (const [changed, place] of variants(value)) {
        compared++;
        if (guardOf(definition)?.(changed) !== parserOf(definition).safeParse(changed).ok)
          wrong.push(`${file}${place}`);
      }
    }
    expect(compared).toBeGreaterThan(10_000);
    expect(wrong).toEqual([]);
  });
});

const ODD = [
  undefined,
  null,
  "",
  " ",
  "a",
  "x".repeat(300),
  0,
  -1,
  1.5,
  2 ** 53,
  Number.NaN,
  true,
  [],
  {},
  [{}],
  { __proto__: null },
];

/** The value with each of its members, at any depth, replaced by each odd value. */
function* variants(value: unknown, place = ""): Iterable<[changed: unknown, place: string]> {
  for (const [index, odd] of ODD.entries()) yield [odd, `${place} = odd value ${index}`];
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    for (const [changed, at] of variants(member, `${place}/${key}`))
      yield [Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }, at];
  }
}
