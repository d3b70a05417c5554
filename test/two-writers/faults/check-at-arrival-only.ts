import type { Fault } from "./fault.ts";

export const checkAtArrivalOnly: Fault = {
  name: "check at arrival only",
  file: "packages/surface/src/call.ts",
  find: "const { commit, value } = writer.write({ changes, apply, hand, undo, guard: guarded?.() });",
  replace: `const view = log.head === start ? guarded?.() : undefined;
      const { commit, value } = writer.write({ changes, apply, hand, undo, guard: view });`,
  breaks: "nobody's edit is overwritten by a call that was pinned before it",
  story: /pinned to r\d+, (thinks, and writes|writes twice) \w+: accepted, although/,
};
