import type { Fault } from "./fault.ts";

export const othersTakenForOwn: Fault = {
  name: "changes of others beside a call taken for its own",
  file: "packages/core/src/reading.ts",
  find: "if (isOwn) this.#read = told ?? answer ?? this.#read;",
  replace: "if (isOwn !== undefined) this.#read = told ?? answer ?? this.#read;",
  breaks: "nobody's edit is overwritten by a call that was decided on before it",
  story: /accepted, although .*, which its model had not been shown when it decided/,
};
