import type { Fault } from "./fault.ts";

export const tombstoneMissing: Fault = {
  name: "tombstone missing",
  file: "packages/surface/src/attribution.ts",
  find: "const added = commit.changes.map(",
  replace: `const added = commit.changes.filter(({ kind }) => kind !== "deleted").map(`,
  breaks: "every write is in the feed",
  story: /although \w+ deletes .*: a deletion is missing/,
};
