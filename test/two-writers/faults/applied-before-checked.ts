import type { Fault } from "./fault.ts";

export const appliedBeforeChecked: Fault = {
  name: "apply before check",
  file: "packages/surface/src/writer.ts",
  find: "if (guard !== undefined && against !== undefined) throw guard.refuse(against);",
  replace: `if (guard !== undefined && against !== undefined) {
        apply();
        throw guard.refuse(against);
      }`,
  breaks: "a refusal changes nothing",
  story: /refused, although it had been applied/,
};
