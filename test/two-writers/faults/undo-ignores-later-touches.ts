import type { Fault } from "./fault.ts";

export const undoIgnoresLaterTouches: Fault = {
  name: "undo ignores later touches",
  file: "packages/surface/src/undo.ts",
  find: "const against = writer.conflict(view, changes);",
  replace: "const against = writer.conflict({ ...view, base: log.head }, changes);",
  breaks: "an undo changes nothing that somebody touched since",
  story: /\w+ undoes that \w+ .*: done, although \w+ .* after it/,
};
