import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Entries of the adapter that make streams, and what stands in their place to record those. */
export const taps: ReadonlyMap<string, string> = new Map(
  ["handler", "middleware"].map((entry) => [
    `@human-plus/adapter-ag-ui/${entry}`,
    pathToFileURL(join(import.meta.dirname, `${entry}.ts`)).href,
  ]),
);
