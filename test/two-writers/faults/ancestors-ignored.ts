import type { Fault } from "./fault.ts";

export const ancestorsIgnored: Fault = {
  name: "touch ignored for ancestors",
  file: "packages/surface/src/touch.ts",
  find: "for (const container of containers(handle))",
  replace: "for (const container of [...containers(handle)].slice(1))",
  breaks: "nobody's edit is overwritten by a call that was pinned before it",
  story: /accepted, although \w+ (moves|deletes) Plan/,
};
