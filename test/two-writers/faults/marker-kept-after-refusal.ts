import type { Fault } from "./fault.ts";

export const markerKeptAfterRefusal: Fault = {
  name: "marker kept after refusal",
  file: "packages/core/src/tool-caller.ts",
  find: "await this.#options.rows.put({ ...row, ...enforced, ...dropped })",
  replace: "await this.#options.rows.put({ ...row, ...enforced })",
  breaks: "every call is pinned to what was last read, and never to a marker that was refused",
  story: /pinned to r\d+, although it was refused/,
};
