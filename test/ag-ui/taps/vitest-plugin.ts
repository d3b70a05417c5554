import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { taps } from "./tapped-entries.ts";

const sources = join(import.meta.dirname, "../../../packages/adapter-ag-ui/src");

/** Has every stream that a test makes with the AG-UI adapter judged, wherever the test imports it. */
export function judgeStreams(): Plugin {
  return {
    name: "judge-streams",
    enforce: "pre",
    config: () => ({ test: { setupFiles: [join(import.meta.dirname, "judge-after-each.ts")] } }),
    resolveId(source, importer = "") {
      if (dirname(importer) === import.meta.dirname) return undefined;
      const tap = taps.get(source.startsWith(".") ? entryOf(resolve(dirname(importer), source)) : source);
      return tap && fileURLToPath(tap);
    },
  };
}

/** Tests of the package itself import its entries by path. */
function entryOf(file: string): string {
  return dirname(file) === sources
    ? file.replace(`${sources}/`, "@human-plus/adapter-ag-ui/").replace(/\.ts$/, "")
    : "";
}
