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
});
