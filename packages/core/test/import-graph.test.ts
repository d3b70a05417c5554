import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";

const core = join(import.meta.dirname, "..");

/** Bundles a module of imports, written as text; what lies outside the package stays an import. */
async function bundle(contents: string) {
  const result = await build({
    stdin: { contents, resolveDir: core, sourcefile: "entry.js" },
    absWorkingDir: core,
    bundle: true,
    conditions: ["human-plus-source"],
    format: "esm",
    metafile: true,
    minify: true,
    packages: "external",
    platform: "neutral",
    write: false,
    logLevel: "silent",
  });
  const [output] = Object.values(result.metafile.outputs);
  if (output === undefined) throw new Error("esbuild wrote nothing");
  return {
    bytes: output.bytes,
    inputs: Object.keys(result.metafile.inputs).filter((path) => path !== "entry.js"),
    outside: output.imports.map(({ path }) => path),
  };
}

describe("the import graph", () => {
  // canonicalize is a single file of plain JavaScript that imports nothing.
  test.each([
    ["index.ts", ["canonicalize"]],
    ["protocol.ts", []],
  ] as const)("of %s stays inside the package but for %j, and needs no platform", async (entry, allowed) => {
    const { inputs, outside } = await bundle(`export * from "./src/${entry}";`);
    expect(outside.filter((path) => !(allowed as readonly string[]).includes(path))).toEqual([]);
    expect(inputs).toContain(`src/${entry}`);
    expect(inputs.filter((path) => !path.startsWith("src/"))).toEqual([]);
  });

  test("of the schemas needs TypeBox, and nothing else", async () => {
    const { outside } = await bundle('export * from "./src/schemas.ts";');
    expect(outside).toEqual(["typebox"]);
  });

  test("sees what lies outside", async () => {
    const { outside } = await bundle('export * from "node:fs"; export { Ajv } from "ajv";');
    expect(outside).toEqual(["node:fs", "ajv"]);
  });
});

describe("the bundle of one parser", () => {
  test("is far smaller than that of the whole protocol", async () => {
    const all = await bundle('export * from "./src/protocol.ts";');
    const frame = await bundle('export { safeParseFrame } from "./src/protocol.ts";');
    const share = frame.bytes / all.bytes;
    console.log(
      `safeParseFrame ${frame.bytes} bytes, all of protocol ${all.bytes} bytes: ${Math.round(share * 100)} %`,
    );
    expect(share).toBeLessThan(0.4);
  });

  test("holds no parser at all where none is imported", async () => {
    const limits = await bundle('export { limits } from "./src/protocol.ts";');
    const frame = await bundle('export { safeParseFrame } from "./src/protocol.ts";');
    expect(limits.bytes).toBeLessThan(frame.bytes / 4);
  });
});
