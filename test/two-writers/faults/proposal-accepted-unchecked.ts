import type { Fault } from "./fault.ts";

export const proposalAcceptedUnchecked: Fault = {
  name: "proposal accepted without re-check",
  file: "packages/surface/src/call.ts",
  find: `if (writer.conflict(against, changes) !== undefined) return false;
        writer.write({ changes, apply, hand, undo, guard: against });`,
  replace: "writer.write({ changes, apply, hand, undo });",
  breaks: "nobody's edit is overwritten by a call that was pinned before it",
  story: /proposes to write \w+: accepted, although/,
};
