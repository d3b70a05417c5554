import type { Fault } from "./fault.ts";

export const ownEditsAsOther: Fault = {
  name: "own edits as other",
  file: "packages/surface/src/attribution.ts",
  find: `hand.id === asker ? "agent" : "other"`,
  replace: `hand.id === asker ? "other" : "other"`,
  breaks: "every write in the feed has the right hand",
  story: /by the hand "other", although it is "agent" to it/,
};
