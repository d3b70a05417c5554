import { HumanPlusError } from "@human-plus/core";
import type { ToolEffectDeclaration } from "./host.ts";
import type { ToolAddress } from "./tool-address.ts";

/** What a host knows of a tool's effect. It is told nothing of what the surface says about it. */
export type EffectPolicy = (address: ToolAddress) => ToolEffectDeclaration | undefined;

/** Every tool of a surface may change it, and nobody can look its calls up by a key. */
export const defaultEffect: ToolEffectDeclaration = Object.freeze({
  kind: "external_mutation",
  idempotency: "unsupported",
});

const KINDS: readonly unknown[] = ["none", "local_mutation", "external_mutation"];
const IDEMPOTENCIES: readonly unknown[] = ["none", "optional", "required", "unsupported"];

/** @throws HumanPlusError `invalid_argument` for what the host would refuse, and for `tool_managed` */
export function effectOf(address: ToolAddress, policy: EffectPolicy | undefined): ToolEffectDeclaration {
  const given = policy?.(address);
  if (given === undefined) return defaultEffect;
  const { kind, idempotency } = given ?? ({} as Partial<ToolEffectDeclaration>);
  const paired = (kind === "none") === (idempotency === "none");
  if (KINDS.includes(kind) && IDEMPOTENCIES.includes(idempotency) && paired) {
    return Object.freeze({ kind, idempotency });
  }
  const expected =
    "effect should give a kind of none, local_mutation or external_mutation with an idempotency of optional, required or unsupported (none with none)";
  const managed = idempotency === "tool_managed" ? "; a surface cannot look a call up by the host's key" : "";
  const got = JSON.stringify({ kind, idempotency });
  throw new HumanPlusError("invalid_argument", `${expected}, got ${got} for ${JSON.stringify(address.tool)}${managed}`);
}

/** The host keeps a record of each call, and any error makes that record unknown. */
export function isManaged({ idempotency }: ToolEffectDeclaration): boolean {
  return idempotency === "optional" || idempotency === "required";
}
