import type { Fault } from "./fault.ts";

export const secondCallUnpinned: Fault = {
  name: "unpinned second call",
  file: "packages/core/src/surface-client.ts",
  find: "if (row.revision !== undefined) meta.revision = row.revision.marker;",
  replace:
    "if (row.revision !== undefined && row.revision === row.lastRead && row.evidence.minted?.tool === row.revision.tool) meta.revision = row.revision.marker;",
  breaks: "every call is pinned to what was last read, and never to a marker that was refused",
  story: /without a pin, although it has read r\d+/,
};
