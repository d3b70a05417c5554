import type { Fault } from "./fault.ts";

export const readBesideCounts: Fault = {
  name: "what is read beside a call counts as read",
  file: "packages/core/src/surface-client.ts",
  find: "const pin = reading === undefined ? asked.revision : reading.pin;",
  replace: "const pin = asked.revision;",
  breaks: "nobody's edit is overwritten by a call that was decided on before it",
  story: /accepted, although .*, which its model had not been shown when it decided/,
};
