import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/** One file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** The files of the page by path, with the script bundled from its sources, in memory. */
export async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const directory = join(import.meta.dirname, "page");
  const read = (name: string) => readFile(join(directory, name), "utf8");
  const bundled = await build({
    entryPoints: [join(directory, "main.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    conditions: ["human-plus-source"],
    logLevel: "silent",
  });
  return new Map([
    ["/", { type: "text/html; charset=utf-8", body: await read("index.html") }],
    ["/page.css", { type: "text/css; charset=utf-8", body: await read("page.css") }],
    ["/icon.svg", { type: "image/svg+xml", body: await read("icon.svg") }],
    ["/page.js", { type: "text/javascript; charset=utf-8", body: bundled.outputFiles[0]?.text ?? "" }],
  ]);
}
