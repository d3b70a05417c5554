import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NameMeanings, nameTools, toolPrefix } from "../src/middleware/tool-names.ts";

const prefix = toolPrefix("surface");

async function namesOf(tools: readonly string[], taken: readonly string[] = [], meanings = new NameMeanings()) {
  return await nameTools(tools, { prefix, taken: new Set(taken), meanings });
}

const toolName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/),
  fc.stringMatching(/^[ab][._:-][ab]$/),
  fc.stringMatching(/^a[._-][0-9a-f]{8}$/),
);

describe("names of tools", () => {
  test("fit every model's provider, are apart, and depend on no other tool and on no order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(toolName, { maxLength: 12 }), async (tools) => {
        const names = await namesOf(tools);
        expect(names.size).toBe(tools.length);
        expect(new Set(names.values()).size).toBe(tools.length);
        for (const [tool, name] of await namesOf(tools.toReversed())) {
          expect(name).toMatch(/^surface__[A-Za-z0-9_-]{1,55}$/);
          expect([names.get(tool), (await namesOf([tool])).get(tool)]).toEqual([name, name]);
        }
      }),
    );
  });

  test("are the plain ones where they can be, and say so where they cannot", async () => {
    const names = await namesOf(["canvas_read", "a_b", "a.b", "x".repeat(128)]);
    expect(names.get("canvas_read")).toBe("surface__canvas_read");
    expect(names.get("a_b")).toBe("surface__a_b");
    // The digest is that of Prism hosts.
    expect(names.get("a.b")).toBe("surface__a_b-2e7336dc");
    expect(names.get("x".repeat(128))).toMatch(/^surface__x{46}-[0-9a-f]{8}$/);
  });

  test("cannot be chosen to be the one that another tool gets", async () => {
    const made = (await namesOf(["a.b"])).get("a.b") as string;
    const forged = made.slice(prefix.length);
    const names = await namesOf(["a.b", forged]);
    expect(names.get("a.b")).toBe(made);
    expect(names.get(forged)).toMatch(/^surface__a_b-2e7336dc-[0-9a-f]{8}$/);
    expect((await namesOf(["a.b"], [made])).get("a.b")).not.toBe(made);
  });

  test("are given to neither of two tools whose digests are alike", async () => {
    const names = await namesOf([
      "a.a.a:a.a:a.a.a.a.a:a:a.a.a.a:a:a.a.a.a.a",
      "a:a.a.a.a:a.a.a.a.a.a:a:a.a:a:a:a:a.a.a.a",
    ]);
    expect([...names]).toEqual([]);
  });

  test("are as many in one thread as can be remembered", async () => {
    const meanings = new NameMeanings();
    for (let index = 0; index < 1_024; index++) meanings.add(`${prefix}tool${index}`, `tool${index}`);
    const names = await namesOf(["tool0", "new"], [], meanings);
    expect([...names]).toEqual([["tool0", `${prefix}tool0`]]);
  });
});
