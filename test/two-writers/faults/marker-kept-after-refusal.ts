import type { Fault } from "./fault.ts";

export const markerKeptAfterRefusal: Fault = {
  name: "marker kept after refusal",
  file: "packages/core/src/surface-client.ts",
  find: "await this.#rows.put({ ...row, ...enforced, revision: undefined, refusedRevision })",
  replace: "await this.#rows.put({ ...row, ...enforced })",
  breaks: "every call is pinned to what was last read, and never to a marker that was refused",
  story: /pinned to r\d+, although it was refused/,
};
