import type { Fault } from "./fault.ts";

export const secondCallUnpinned: Fault = {
  name: "unpinned second call",
  file: "packages/core/src/tool-caller.ts",
  find: "if (pin !== undefined) meta.revision = pin.marker;",
  replace:
    "if (pin !== undefined && pin === row.lastRead && row.evidence.minted?.tool === pin.tool) meta.revision = pin.marker;",
  breaks: "every call is pinned to what was last read, and never to a marker that was refused",
  story: /without a pin, although it has read r\d+/,
};
