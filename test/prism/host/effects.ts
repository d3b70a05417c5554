import { createHash } from "node:crypto";
import type { EffectFailure, EffectRecord, EffectStore } from "./effect-store.ts";
import { effectError } from "./errors.ts";
import type { CallContext, Effect, Identity, JsonObject, Ownership, Tool, ToolCall, ToolResult } from "./shapes.ts";

/** JSON with sorted keys: the same value gives the same text. */
export function canonicalToolEffectJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [two]) => (one < two ? -1 : 1)))
      : inner,
  );
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export const toolEffectArgumentsHash = (args: unknown): string => sha256(canonicalToolEffectJson(args));

export interface EffectOwner {
  readonly identity: Identity | undefined;
  readonly ownership: Ownership;
  readonly store: EffectStore | undefined;
}

/** What the effect of one call asks of dispatch. */
export interface PreparedEffect {
  /** The tool is given this. */
  readonly idempotencyKey: string | undefined;
  /** A stored result: it is given back, and the tool does not run. */
  readonly replay: ToolResult | undefined;
  /** Present where a record follows the call. */
  readonly claim: EffectClaim | undefined;
}

export interface EffectClaim {
  dispatched(): void;
  complete(result: ToolResult): void;
  unknown(failure: EffectFailure): void;
}

const PAIRS: Readonly<Record<Effect["kind"], readonly Effect["idempotency"][]>> = {
  none: ["none"],
  local_mutation: ["none", "optional", "required", "tool_managed", "unsupported"],
  external_mutation: ["none", "optional", "required", "tool_managed", "unsupported"],
};

/** @throws `ERR_PRISM_TOOL_EFFECT_LIMIT` for a declaration that is none */
export function effectOf({ effect }: Tool, args: JsonObject, context: CallContext): Effect | undefined {
  const declared = typeof effect === "function" ? effect(args, Object.freeze({ ...context })) : effect;
  if (declared === undefined || PAIRS[declared.kind]?.includes(declared.idempotency)) return declared;
  throw effectError("LIMIT", "the declaration of the effect is invalid");
}

/** Claims the effect of a call, or says why it may not be carried out. @throws `ERR_PRISM_TOOL_EFFECT_*` */
export function prepareEffect(
  tool: Tool,
  call: ToolCall,
  args: JsonObject,
  context: CallContext,
  { identity, ownership, store }: EffectOwner,
): PreparedEffect {
  const effect = effectOf(tool, args, context);
  const { sessionId, runId, toolCallId } = context;
  const unmanaged = { idempotencyKey: undefined, replay: undefined, claim: undefined };
  if (effect === undefined || effect.idempotency === "none") return unmanaged;
  if (identity === undefined) {
    if (effect.idempotency === "unsupported") return unmanaged;
    throw effectError("CONFLICT", "the effect needs a verified identity");
  }
  const argumentsHash = toolEffectArgumentsHash(args);
  const { tenantId, accountId, userId } = ownership;
  const parts = { tenantId, accountId, userId, principal: identity.id, sessionId, runId, toolCallId };
  const key = `prism:tool-effect:v1:${sha256(canonicalToolEffectJson({ ...parts, toolName: tool.name, argumentsHash }))}`;
  const keyed = { ...unmanaged, idempotencyKey: key };
  if (effect.idempotency === "unsupported" || effect.idempotency === "tool_managed") return keyed;
  if (store === undefined) {
    if (effect.idempotency === "optional") return keyed;
    throw effectError("REQUIRED", "the effect needs a store");
  }
  const { outcome, record } = store.begin({
    key,
    ownership,
    sessionId,
    runId,
    toolCallId,
    toolName: call.name,
    argumentsHash,
  });
  if (outcome === "acquired") return { ...keyed, claim: claimOf(store, record) };
  if (record.status === "completed") return { ...keyed, replay: record.result as ToolResult };
  if (record.status === "unknown") throw effectError("UNKNOWN", "what became of this effect is not known");
  throw effectError("CONFLICT", `the effect is ${record.status}`);
}

function claimOf(store: EffectStore, acquired: EffectRecord): EffectClaim {
  let record = acquired;
  const claim = () => ({ key: record.key, claimToken: record.claimToken, expectedVersion: record.version });
  return {
    dispatched() {
      record = store.markDispatched(claim());
    },
    complete(result) {
      record = store.complete({ ...claim(), result });
    },
    unknown(failure) {
      record = store.markUnknown({ ...claim(), failure });
    },
  };
}
