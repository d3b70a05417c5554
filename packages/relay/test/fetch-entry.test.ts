import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

describe("the entry ./fetch", () => {
  test("reaches no Node module", async () => {
    const { metafile } = await build({
      entryPoints: [join(import.meta.dirname, "../src/fetch.ts")],
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "browser",
      conditions: ["human-plus-source"],
      logLevel: "silent",
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.some((input) => input.endsWith("src/fetch-handler.ts"))).toBe(true);
    expect(inputs.filter((input) => /node-listener|pino|prom-client|^node:/.test(input))).toEqual([]);
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  });
});
