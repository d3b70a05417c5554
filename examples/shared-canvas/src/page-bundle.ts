import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { build } from "esbuild";

/** One file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** The files of the page by path, with the script bundled from its sources, in memory. */
export async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const directory = join(import.meta.dirname, "page");
  return new Map([
    ["/", await readPageFile(join(directory, "index.html"))],
    ["/base.css", await readPageFile(join(directory, "base.css"))],
    ["/page.css", await readPageFile(join(directory, "page.css"))],
    ["/icon.svg", await readPageFile(join(directory, "icon.svg"))],
    ["/page.js", await bundleScript(join(directory, "main.ts"))],
  ]);
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export async function readPageFile(path: string): Promise<PageFile> {
  return { type: types[extname(path)] ?? "text/plain; charset=utf-8", body: await readFile(path, "utf8") };
}

/**
 * A script with everything it imports, from sources.
 *
 * @param alias files to take in place of what is imported by a name
 */
export async function bundleScript(
  entryPoint: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<PageFile> {
  const bundled = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    conditions: ["human-plus-source"],
    alias: { ...alias },
    logLevel: "silent",
  });
  return { type: "text/javascript; charset=utf-8", body: bundled.outputFiles[0]?.text ?? "" };
}
