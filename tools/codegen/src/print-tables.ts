import type { SourceFile } from "./file.ts";
import type { Json } from "./load.ts";
import type { Definition, Model } from "./model.ts";
import { lowerFirst, propertyKey } from "./names.ts";

/** errors.ts: what the SDK's codes mean, and what a relay's refusals become. */
export function printErrors(model: Model, file: SourceFile): void {
  const code = file.type("./types.ts", "ErrorCode");
  const outcome = file.type("./types.ts", "Outcome");
  file.doc("What the contract says of one error code.");
  file.print("export interface ErrorRule {");
  file.doc("What may have become of a call that fails with it; the first is the usual one.", "  ");
  file.print(`  readonly outcome: readonly [${outcome}, ...${outcome}[]];`);
  file.doc("Whether the same call may be made again as it is.", "  ");
  file.print("  readonly retryable: boolean;", "}", "");
  file.doc("Every code of the SDK's errors. PROTOCOL.md section 3.");
  file.print(`export const errorTable: Readonly<Record<${code}, ErrorRule>> = {`);
  for (const entry of model.errors) {
    file.doc(entry.description, "  ");
    file.print(
      `  ${propertyKey(entry.code)}: { outcome: ${JSON.stringify(entry.outcome)}, retryable: ${entry.retryable} },`,
    );
  }
  file.print("};", "");

  file.doc("What one refusal of a relay means. Rules are tried in order; the first that matches decides.");
  file.print("export interface RelayErrorRule {");
  file.doc("A status, or a class of them.", "  ");
  file.print('  readonly status: number | "3xx" | "4xx" | "5xx";');
  file.doc("The `error` member that the body must have.", "  ");
  file.print("  readonly code?: string;");
  file.doc("Text that the body must contain.", "  ");
  file.print("  readonly bodyContains?: string;");
  file.print(`  readonly error: ${code};`, `  readonly outcome: ${outcome};`, "  readonly retryable: boolean;");
  file.doc("The relay of this project sends it.", "  ");
  file.print("  readonly sentByRelay: boolean;", "}", "");
  file.doc("The refusals of relays, in the order in which they are tried. PROTOCOL.md section 3.");
  file.print("export const relayErrors: readonly RelayErrorRule[] = [");
  for (const { description, ...rule } of model.relayErrors) {
    file.doc(description, "  ");
    file.print(`  ${objectText(rule)},`);
  }
  file.print("];", "");

  const codes = [
    ...new Set(
      model.relayErrors
        .filter((rule) => rule.sentByRelay && rule.code !== undefined)
        .map((rule) => rule.code as string),
    ),
  ];
  file.doc("Codes that the relay of this project sends in `{error}`, each with its status.");
  file.print("export const relayErrorStatus = {");
  for (const relayCode of codes) {
    const rule = model.relayErrors.find((candidate) => candidate.code === relayCode && candidate.sentByRelay);
    file.doc(rule?.description, "  ");
    file.print(`  ${propertyKey(relayCode)}: ${JSON.stringify(rule?.status)},`);
  }
  file.print("} as const;", "");
  file.doc("A code that the relay of this project sends.");
  file.print("export type RelayErrorCode = keyof typeof relayErrorStatus;", "");
}

/** constants.ts: versions, limits, methods, words and names of the wire. */
export function printConstants(model: Model, file: SourceFile): void {
  file.doc("Version of the contract, apart from those of the packages. PROTOCOL.md section 10.");
  file.print(`export const contractVersion = ${JSON.stringify(model.version)};`, "");
  file.doc("The revision of MCP that frames follow; another one is refused.");
  file.print(`export const mcpProtocolVersion = ${JSON.stringify(model.protocol.mcp)};`, "");
  file.doc("The version of JSON-RPC that frames carry.");
  file.print(`export const jsonRpcVersion = ${JSON.stringify(model.protocol.jsonrpc)};`, "");
  for (const { name, description, entries } of model.constants) {
    file.doc(description);
    file.print(`export const ${name} = {`);
    for (const entry of entries) {
      file.doc(entry.description, "  ");
      file.print(`  ${propertyKey(entry.name)}: ${JSON.stringify(entry.value)},`);
    }
    file.print("} as const;", "");
  }
  file.doc("Names of requests and notifications.");
  file.print("export const methods = {");
  for (const { name, description, method } of methodsOf(model.definitions)) {
    file.doc(description, "  ");
    file.print(`  ${name}: ${JSON.stringify(method)},`);
  }
  file.print("} as const;", "");
  file.doc(
    "Where the token goes: in this query parameter, or behind this scheme of an `Authorization` header. Never both.",
  );
  file.print(`export const authentication = ${objectText({ ...model.authentication })} as const;`, "");
  file.doc("Names used on an event stream.");
  file.print(`export const eventStream = ${objectText(model.eventStream)} as const;`, "");
  file.doc("How an invitation looks as a link.");
  file.print(`export const shareLinks = ${objectText(model.shareLinks)} as const;`, "");
}

function methodsOf(definitions: readonly Definition[]): Array<{ name: string; description: string; method: string }> {
  return definitions.flatMap(({ name, description, schema }) => {
    if (schema.kind !== "object") return [];
    const method = schema.properties.find((property) => property.name === "method")?.schema;
    if (method?.kind !== "literals") return [];
    return [
      {
        name: lowerFirst(name.replace(/(Request|Notification)$/, "")),
        description,
        method: String(method.values[0]?.value),
      },
    ];
  });
}

function objectText(value: Readonly<Record<string, Json | undefined>>): string {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${members.map(([key, member]) => `${propertyKey(key)}: ${JSON.stringify(member)}`).join(", ")} }`;
}
