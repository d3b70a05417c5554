import { describe, expect, test } from "vitest";
import { currentPins, publishedPackages, readPins } from "../tools/exports/pins.ts";

describe.each(publishedPackages().map((published) => [published.name, published] as const))("%s", (name, published) => {
  test("exports what is pinned", async () => {
    expect(
      await currentPins(published),
      `the exports of ${name} changed: if that is meant, run \`npm run exports:update\`, commit exports.pin.json and add a changeset`,
    ).toEqual(readPins(published));
  });

  test.each(published.entries)("builds $entry from the source of the same name", ({ source, built }) => {
    expect(built).toBe(source.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, ".js"));
  });
});
