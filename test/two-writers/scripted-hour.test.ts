import { describe, expect, test } from "vitest";
import { runHour } from "../../bench/two-writers/scripted-hour.ts";

describe.each([1, 2, 3])("an hour of 3 people and 2 agents on 200 cards (seed %i)", (seed) => {
  test("has no refusal that conflicts with nothing where tools say what they touch", async () => {
    const { refusedForNothing, writes, edits } = await runHour("handles", seed);
    expect(refusedForNothing).toBe(0);
    expect(writes).toBeGreaterThan(300);
    expect(edits).toBeGreaterThan(300);
  });

  test("has many with a single counter", async () => {
    expect((await runHour("all", seed)).refusedForNothing).toBeGreaterThan(100);
  });
});
