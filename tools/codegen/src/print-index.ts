import type { SourceFile } from "./file.ts";
import type { Model } from "./model.ts";
import { upperFirst } from "./names.ts";

/** index.ts: everything that authors of parts may use, by name. Validators stay behind the parsers, schemas have an entry of their own. */
export function printIndex(model: Model, file: SourceFile): void {
  const names = model.definitions.map(({ name }) => name);
  const tables = model.constants.map(({ name }) => name);
  const queries = model.routes
    .filter(({ query }) => query.length > 0)
    .map(({ name }) => `type ${upperFirst(name)}Query`);
  print(file, "./constants.ts", [
    "authentication",
    "contractVersion",
    "eventStream",
    "jsonRpcVersion",
    "mcpProtocolVersion",
    "methods",
    "shareLinks",
    ...tables,
  ]);
  print(file, "./errors.ts", [
    "type ErrorRule",
    "errorTable",
    "type RelayErrorCode",
    "type RelayErrorRule",
    "relayErrorStatus",
    "relayErrors",
  ]);
  print(
    file,
    "./guards.ts",
    model.definitions.filter(({ parse }) => parse.kind === "checked").map(({ name }) => `is${name}`),
  );
  print(
    file,
    "./parsers.ts",
    names.flatMap((name) => [`parse${name}`, `safeParse${name}`]),
  );
  print(file, "./routes.ts", ["type RouteName", "routes", ...queries, ...model.routes.map(({ name }) => `${name}Url`)]);
  print(
    file,
    "./types.ts",
    ["JsonObject", ...names].map((name) => `type ${name}`),
  );
}

function print(file: SourceFile, module: string, names: readonly string[]): void {
  const bare = (name: string) => name.replace("type ", "");
  const sorted = [...names].sort((a, b) => (bare(a) < bare(b) ? -1 : 1));
  file.print(`export { ${sorted.join(", ")} } from "${module}";`);
}
