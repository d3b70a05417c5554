import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assertPrefix, defaultPrefix, nameTools } from "./names.ts";

const nameOf = (surfaceId: string, tool: string, reserved: readonly string[] = []): string => {
  const prefix = defaultPrefix(surfaceId);
  return nameTools([tool], { surfaceId, prefix, naming: undefined, reserved }).get(tool) as string;
};

const toolName = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/);
const surfaceId = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 128 }),
  fc.stringMatching(/^[a-z_-]{1,12}$/),
  fc.uuid(),
);

/** Different tools whose names look alike once a provider's alphabet is all there is. */
const lookAlikes: ReadonlyArray<readonly [string, string]> = [
  ["a", "b_c"],
  ["a_b", "c"],
  ["a-b", "c"],
  ["a.b", "c"],
  ["a b", "c"],
  ["å-b", "c"],
  ["a\u030a-b", "c"],
  ["板", "move"],
  ["版", "move"],
  ["board", "card.move"],
  ["board", "card_move"],
  ["board", "card-move"],
  ["board", "card:move"],
  ["board", "__proto__"],
  ["board", "constructor"],
  ["b".repeat(128), "t".repeat(128)],
  ["b".repeat(128), `${"t".repeat(127)}u`],
  [`${"b".repeat(127)}c`, "t".repeat(128)],
];

describe("names", () => {
  test("of 200 tools of as many surfaces, alike or in other scripts or too long, fit providers, stay and are distinct", () => {
    const generated = fc.sample(fc.tuple(surfaceId, toolName), { numRuns: 200, seed: 6 });
    const pairs = new Map([...generated, ...lookAlikes].map((pair) => [JSON.stringify(pair), pair] as const));
    const names = [...pairs.values()].map(([surface, tool]) => nameOf(surface, tool));
    expect(names.filter((name) => !/^surface_[A-Za-z0-9_-]{1,56}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(pairs.size);
    expect([...pairs.values()].map(([surface, tool]) => nameOf(surface, tool))).toEqual(names);
  });

  test("are the plain ones where they can be", () => {
    expect(nameOf("board-1", "canvas_move")).toBe("surface_board-1_canvas_move");
  });

  test("do not depend on what else is offered, nor on its order", () => {
    const options = { surfaceId: "board", prefix: defaultPrefix("board"), naming: undefined, reserved: [] };
    const tools = ["read", "card.move", "card_move", "t".repeat(128)];
    const names = nameTools(tools, options);
    expect(Object.fromEntries(nameTools(tools.toReversed(), options))).toEqual(Object.fromEntries(names));
    for (const tool of tools) expect(nameOf("board", tool)).toBe(names.get(tool));
  });

  test("cannot be chosen to be the one that another tool gets", () => {
    const shortened = nameOf("board", "card.move");
    const forged = shortened.slice(defaultPrefix("board").length);
    expect(nameOf("board", forged)).not.toBe(shortened);
  });

  test("of tools of the adapter are not taken by a tool of the surface", () => {
    const reserved = ["surface_board_changes"];
    expect(nameOf("board", "changes", reserved)).toMatch(/^surface_board_[0-9a-f]{8}$/);
  });

  test("that a host gives are refused where two tools would share one, with both tools in the message", () => {
    const options = { surfaceId: "board", prefix: "x_", reserved: [], naming: () => "same" };
    expect(() => nameTools(["read", "write"], options)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: 'two tools would be named same: "read" and "write"',
      }),
    );
  });

  test.each(["", "a b", "mcp:board:read", "x".repeat(65), "größe", 7 as never])(
    "that a host gives are refused when they are %j",
    (name) => {
      const options = { surfaceId: "board", prefix: "x_", reserved: [], naming: () => name };
      expect(() => nameTools(["read"], options)).toThrow(
        expect.objectContaining({ code: "invalid_argument", message: expect.stringMatching(/"read".*gave/) }),
      );
    },
  );

  test.each(["a b", "x".repeat(41), "größe_", 7 as never])("refuse the prefix %j", (prefix) => {
    const message = expect.stringMatching(/^prefix should be at most 40/);
    expect(() => assertPrefix("prefix", prefix)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message }),
    );
  });
});
