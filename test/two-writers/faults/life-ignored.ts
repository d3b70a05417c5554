import type { Fault } from "./fault.ts";

export const lifeIgnored: Fault = {
  name: "counter compared as number",
  file: "packages/surface/src/marker.ts",
  find: "mint(reading) === marker ? reading",
  replace: "Number.isSafeInteger(base) ? reading",
  breaks: "a marker of an earlier life of the page is never equal",
  story: /although (the page was reloaded after r\d+|its marker is of an earlier life of the page)/,
};
