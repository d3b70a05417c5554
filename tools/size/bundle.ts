import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What somebody loads who imports something of ours. */
export interface BundleReport {
  /** Minified, before compression. */
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Files and packages that are in it, the largest first. */
  readonly parts: ReadonlyArray<{ readonly path: string; readonly bytes: number }>;
  /** Node modules that code of the bundle imports; a page has none. */
  readonly nodeImports: readonly string[];
  /** Everything that code of the bundle imports and that is not in it. */
  readonly imports: readonly string[];
}

/** The bound of a surface for browsers after compression, in bytes. */
export const MAX_GZIP_BYTES = 15_000;

/** The bound of what an entry of the adapter for AG-UI adds to core, after compression, in bytes. */
export const MAX_AG_UI_GZIP_BYTES = 20_000;

const root = join(import.meta.dirname, "../..");

/** Bundles `createSurface` and `connectSurface` for browsers, with everything they need. */
export function bundleSurface(): Promise<BundleReport> {
  return bundle(`export { connectSurface, createSurface } from "@human-plus/surface";`);
}

/** Whole entries, with everything that they export. */
const agUiEntries = {
  projector: `export * from "@human-plus/adapter-ag-ui";`,
  handler: `export * from "@human-plus/adapter-ag-ui/handler";`,
} as const;

export type AgUiEntry = keyof typeof agUiEntries;

/** Bundles an entry of the adapter for AG-UI, without core, which its users have already. */
export function bundleAgUi(entry: AgUiEntry): Promise<BundleReport> {
  return bundle(agUiEntries[entry], ["@human-plus/core", "@human-plus/core/*", "@ag-ui/*", "rxjs"]);
}

/** @param external imports that are reported, and left out of the bundle */
async function bundle(entry: string, external: readonly string[] = []): Promise<BundleReport> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: entry, resolveDir: join(root, "test"), sourcefile: "entry.ts" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    conditions: ["human-plus-source"],
    // So that an import of Node shows up in the report, and not as an error here.
    external: ["node:*", ...external],
    outfile: "bundle.js",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const [output] = Object.values(metafile.outputs);
  const [file] = outputFiles;
  if (output === undefined || file === undefined) throw new Error("esbuild wrote nothing");
  const parts = Object.entries(output.inputs).map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput }));
  const imported = [output, ...Object.values(metafile.inputs)].flatMap((module) => module.imports);
  const imports = [...new Set(imported.filter(({ external: left }) => left).map(({ path }) => path))].sort();
  return {
    bytes: file.contents.length,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    parts: parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes),
    nodeImports: imports.filter((path) => path.startsWith("node:")),
    imports,
  };
}
