import type { Fault } from "./fault.ts";

export const trimmedInSilence: Fault = {
  name: "log trimmed without complete:false",
  file: "packages/surface/src/attribution.ts",
  find: ": base < log.forgotten",
  replace: ": base < 0",
  breaks: "every write is in the feed",
  story: /is told that this is all that changed, although/,
};
