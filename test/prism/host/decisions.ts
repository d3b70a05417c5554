import { randomUUID } from "node:crypto";
import { effectOf, toolEffectArgumentsHash } from "./effects.ts";
import { decisionError } from "./errors.ts";
import type { CallContext, Elicitation, JsonObject, Registry, ToolCall, ToolResult } from "./shapes.ts";

/** What a decision is about. Raw arguments never appear in it. */
export interface DecisionScope {
  readonly toolName: string;
  readonly effectKind?: string;
  readonly argumentsHash?: string;
}

export interface PendingDecision {
  readonly approvalId: string;
  readonly kind: "tool_approval" | "elicitation";
  readonly toolCallId: string;
  readonly scope: DecisionScope;
  readonly reason: string;
  readonly elicitationSchema?: JsonObject;
}

export interface RunDecision {
  readonly approvalId: string;
  readonly outcome: "allow_once" | "allow_for_run" | "reject_once" | "reject_for_run";
  readonly reason?: string;
  readonly modifiedArguments?: JsonObject;
  readonly elicitation?: JsonObject;
}

export interface StickyDecision {
  readonly scope: DecisionScope;
  readonly outcome: "allow_for_run" | "reject_for_run";
  readonly reason?: string;
}

/** How a decided call goes on: it runs, perhaps with other arguments, or its result is the decision itself. */
export type Settled = { readonly run: ToolCall } | { readonly result: ToolResult };

const OUTCOMES: readonly string[] = ["allow_once", "allow_for_run", "reject_once", "reject_for_run"];
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_REASON_BYTES = 2 * 1024;
const MAX_PAYLOAD_BYTES = 16 * 1024;
const MAX_DECISIONS = 128;

const bytes = (value: unknown) => Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));

/** The question of a tool, as the host takes it: one that throws or is too large is none. */
function elicitationOf(registry: Registry, call: ToolCall, context: CallContext): Elicitation | undefined {
  try {
    const asked = registry.get(call.name)?.elicitation?.(call.arguments as JsonObject, context);
    return asked === undefined || bytes(asked.schema) > MAX_SCHEMA_BYTES ? undefined : asked;
  } catch {
    return undefined;
  }
}

export function scopeOf(registry: Registry, call: ToolCall, context: CallContext): DecisionScope {
  const tool = registry.get(call.name);
  const effect = tool && effectOf(tool, call.arguments as JsonObject, context);
  return {
    toolName: call.name,
    ...(effect && { effectKind: effect.kind }),
    argumentsHash: toolEffectArgumentsHash(call.arguments),
  };
}

/** What a person is asked about one call. Every call is: whatever its effect is. */
export function pendingDecisionOf(registry: Registry, call: ToolCall, context: CallContext): PendingDecision {
  const elicitation = elicitationOf(registry, call, context);
  const asked = elicitation?.reason;
  return {
    approvalId: randomUUID(),
    kind: elicitation === undefined ? "tool_approval" : "elicitation",
    toolCallId: call.id,
    scope: scopeOf(registry, call, context),
    reason: asked === undefined || bytes(asked) > MAX_REASON_BYTES ? `${call.name} waits for approval` : asked,
    ...(elicitation && { elicitationSchema: elicitation.schema }),
  };
}

/** The standing decision that covers a call: by the whole scope, its arguments included. */
export function coveredBy(stickies: readonly StickyDecision[], scope: DecisionScope): StickyDecision | undefined {
  return stickies.find(
    (sticky) =>
      sticky.scope.toolName === scope.toolName &&
      sticky.scope.effectKind === scope.effectKind &&
      (sticky.scope.argumentsHash === undefined || sticky.scope.argumentsHash === scope.argumentsHash),
  );
}

/** All or nothing, before anything is written. @throws `ERR_PRISM_DECISION_*` */
export function assertDecisions(
  decisions: readonly RunDecision[],
  pending: readonly PendingDecision[],
  validate: (decision: RunDecision, pending: PendingDecision) => void,
): void {
  if (decisions.length === 0 || decisions.length > MAX_DECISIONS) throw decisionError("LIMIT", "1 to 128 decisions");
  const seen = new Set<string>();
  for (const decision of decisions) {
    const { approvalId, outcome, reason, modifiedArguments, elicitation } = decision;
    const asked = pending.find((candidate) => candidate.approvalId === approvalId);
    if (asked === undefined) throw decisionError("UNKNOWN", "there is no such decision to make");
    if (seen.has(approvalId)) throw decisionError("DUPLICATE", "a decision was made twice");
    seen.add(approvalId);
    if (!OUTCOMES.includes(outcome)) throw decisionError("INVALID", "there is no such outcome");
    if (reason !== undefined && bytes(reason) > MAX_REASON_BYTES)
      throw decisionError("LIMIT", "the reason is too long");
    for (const payload of [modifiedArguments, elicitation])
      if (payload !== undefined && bytes(payload) > MAX_PAYLOAD_BYTES)
        throw decisionError("LIMIT", "too much was given");
    if (modifiedArguments !== undefined && asked.kind !== "tool_approval")
      throw decisionError("INVALID", "only an approval may change the arguments");
    const required = asked.elicitationSchema?.["required"];
    const missing = Array.isArray(required) && elicitation && required.find((key) => !(String(key) in elicitation));
    if (missing) throw decisionError("INVALID", `the answer lacks ${String(missing)}`);
    validate(decision, asked);
  }
}

export function settle(
  call: ToolCall,
  { outcome, reason, modifiedArguments, elicitation }: Partial<RunDecision>,
): Settled {
  const { id: toolCallId, name } = call;
  if (outcome?.startsWith("reject")) {
    const error = { code: "approval_rejected", message: reason ?? "Approval rejected" };
    return { result: { toolCallId, name, error } };
  }
  if (elicitation !== undefined) return { result: { toolCallId, name, value: elicitation } };
  return { run: modifiedArguments === undefined ? call : { ...call, arguments: modifiedArguments } };
}

/** What an outcome that lasts leaves behind. With other arguments it no longer says which. */
export function stickyOf(
  { outcome, reason, modifiedArguments }: RunDecision,
  { scope }: PendingDecision,
): StickyDecision[] {
  if (outcome !== "allow_for_run" && outcome !== "reject_for_run") return [];
  const { argumentsHash: _, ...wide } = scope;
  return [{ scope: modifiedArguments === undefined ? scope : wide, outcome, ...(reason !== undefined && { reason }) }];
}
