import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What a page loads to have a surface at a relay. */
export interface BundleReport {
  /** Minified, before compression. */
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Files and packages that are in it, the largest first. */
  readonly parts: ReadonlyArray<{ readonly path: string; readonly bytes: number }>;
  /** Node modules that code of the bundle imports; a page has none. */
  readonly nodeImports: readonly string[];
}

/** The bound of the bundle after compression, in bytes. */
export const MAX_GZIP_BYTES = 15_000;

const root = join(import.meta.dirname, "../..");
const ENTRY = `
export { connectSurface, createSurface } from "@human-plus/surface";
`;

/** Bundles `createSurface` and `connectSurface` for browsers, with everything they need. */
export async function bundleSurface(): Promise<BundleReport> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: join(root, "test"), sourcefile: "entry.ts" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    conditions: ["human-plus-source"],
    // So that an import of Node shows up in the report, and not as an error here.
    external: ["node:*"],
    outfile: "surface.js",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const [output] = Object.values(metafile.outputs);
  const [file] = outputFiles;
  if (output === undefined || file === undefined) throw new Error("esbuild wrote nothing");
  const parts = Object.entries(output.inputs).map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput }));
  const imports = [output, ...Object.values(metafile.inputs)].flatMap((module) => module.imports);
  return {
    bytes: file.contents.length,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    parts: parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes),
    nodeImports: [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))],
  };
}
