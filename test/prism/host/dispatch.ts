import { type EffectOwner, type PreparedEffect, prepareEffect } from "./effects.ts";
import { effectError, endsRun, HostError, runLimitError, suspension, toErrorInfo } from "./errors.ts";
import type { EventFields } from "./events.ts";
import {
  type Guardrail,
  isFilteredOut,
  type Middleware,
  type PermissionPolicy,
  type ToolFilter,
  type ToolValidator,
  type TrustPolicy,
} from "./policies.ts";
import type { Redactor } from "./redactor.ts";
import type { ErrorInfo, JsonObject, Registry, Tool, ToolCall, ToolContext, ToolResult } from "./shapes.ts";

/** What one call is dispatched with. */
export interface DispatchOptions {
  readonly registry: Registry;
  readonly sessionId: string;
  readonly runId: string;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly effects: EffectOwner;
  readonly middleware?: Middleware | undefined;
  readonly guardrails?: readonly Guardrail[] | undefined;
  readonly filters?: readonly ToolFilter[] | undefined;
  readonly trust?: TrustPolicy | undefined;
  readonly permission?: PermissionPolicy | undefined;
  readonly validator?: ToolValidator | undefined;
  readonly redactor?: Redactor | undefined;
  /** Charges the run; gives whether the limit is passed. */
  chargeToolCall(): boolean;
  /** The durable gate's backstop: whether a call may run now. */
  mayRun(call: ToolCall): boolean;
  emit(event: EventFields): Promise<void>;
}

/** A call that is stopped before its tool sees anything. */
class Blocked extends Error {
  readonly reason: string;
  readonly info: ErrorInfo;

  constructor(reason: string, { info, cause }: { info: ErrorInfo; cause?: unknown }) {
    super(info.message, { cause });
    this.reason = reason;
    this.info = info;
  }
}

/** One call, step by step, in the host's order. What it rejects with ends the run. */
export async function dispatchToolCall(asked: ToolCall, options: DispatchOptions): Promise<ToolResult> {
  if (!options.chargeToolCall()) throw runLimitError("maxToolCalls");
  const call = (await options.middleware?.toolCall?.(asked)) ?? asked;
  try {
    evaluate("tool_input", call, options);
    const { tool, args } = find(call, options);
    await permit(tool, options);
    await validate(tool, call, args, options);
    const effect = prepare(tool, call, args, options);
    if (effect.replay !== undefined) return effect.replay;
    if (!options.mayRun(call)) throw suspension();
    return await run(tool, call, args, effect, options);
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    const { reason, info } = error;
    const { id: toolCallId, name } = call;
    await options.emit({ type: "tool_execution_blocked", toolCallId, name, reason, error: info });
    return { toolCallId, name, error: info };
  }
}

function evaluate(
  stage: Guardrail["stage"],
  call: ToolCall,
  { guardrails = [] }: DispatchOptions,
  result?: ToolResult,
) {
  for (const guardrail of guardrails) {
    if (guardrail.stage !== stage) continue;
    const context = { toolName: call.name, toolCallId: call.id, call, ...(result && { result }) };
    const { action, reason = "" } = guardrail.evaluate(context);
    if (action === "block")
      throw new Blocked("guardrail_blocked", { info: { message: `blocked by ${guardrail.name}: ${reason}` } });
    if (action !== "allow") throw new HostError("GuardrailError", `${guardrail.name}: ${action}`);
  }
}

function find(call: ToolCall, { registry, filters = [] }: DispatchOptions): { tool: Tool; args: JsonObject } {
  const { name, arguments: args, argumentsError } = call;
  const tool = registry.get(name);
  if (tool === undefined) throw new Blocked("unknown_tool", { info: { message: `Unknown tool: ${name}` } });
  if (isFilteredOut(name, filters)) throw new Blocked("tool_denied", { info: { message: `Tool denied: ${name}` } });
  if (argumentsError !== undefined) throw new Blocked("invalid_arguments", { info: { message: argumentsError } });
  if (typeof args !== "object" || args === null || Array.isArray(args))
    throw new Blocked("invalid_arguments", { info: { message: "arguments should be an object" } });
  return { tool, args: args as JsonObject };
}

async function permit({ name }: Tool, { effects, trust, permission, metadata }: DispatchOptions): Promise<void> {
  const denied = (info: ErrorInfo) => new Blocked("permission_denied", { info });
  if (effects.identity?.active === false)
    throw denied({ name: "IdentityError", code: "ERR_PRISM_IDENTITY", message: "the identity is not active" });
  const trusted = trust?.check({ kind: "tool", target: name, capability: "execute", metadata });
  if (trusted?.trusted === false)
    throw denied({ name: "TrustDeniedError", code: "ERR_PRISM_UNTRUSTED", message: trusted.reason ?? "not trusted" });
  const allowed = await permission?.check({ kind: "tool", action: "execute", target: name, metadata });
  if (allowed?.allowed !== false) return;
  const message = allowed.reason ?? "not permitted";
  throw denied({ name: "PermissionDeniedError", code: "ERR_PRISM_PERMISSION_DENIED", message });
}

async function validate(tool: Tool, call: ToolCall, args: JsonObject, options: DispatchOptions): Promise<void> {
  const { sessionId, runId } = options;
  const refusal = await options.validator?.(tool, args, { sessionId, runId, toolCallId: call.id });
  if (refusal === undefined) return;
  throw new Blocked("validation_failed", { info: typeof refusal === "string" ? { message: refusal } : refusal });
}

function prepare(tool: Tool, call: ToolCall, args: JsonObject, options: DispatchOptions): PreparedEffect {
  try {
    return prepareEffect(tool, call, args, callContext(call, options), options.effects);
  } catch (error) {
    throw new Blocked("execution_denied", { info: toErrorInfo(error), cause: error });
  }
}

function callContext(call: ToolCall, { sessionId, runId, signal, metadata }: DispatchOptions) {
  return { sessionId, runId, toolCallId: call.id, ...(signal && { signal }), ...(metadata && { metadata }) };
}

async function run(
  tool: Tool,
  call: ToolCall,
  args: JsonObject,
  { idempotencyKey, claim }: PreparedEffect,
  options: DispatchOptions,
): Promise<ToolResult> {
  const { emit, effects, middleware, redactor } = options;
  const { id: toolCallId, name } = call;
  await emit({ type: "tool_execution_started", call });
  claim?.dispatched();
  const context: ToolContext = {
    ...callContext(call, options),
    ...(effects.identity && { identity: effects.identity }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    // Nothing bounds the payload, and nothing looks whether the call has ended.
    progress: (progress, metadata) =>
      emit({ type: "tool_execution_progress", toolCallId, name, progress, ...(metadata && { metadata }) }),
  };
  const failed = async (error: ErrorInfo): Promise<ToolResult> => {
    await emit({ type: "tool_execution_error", call, error });
    return { toolCallId, name, error };
  };
  const lost = (): Promise<ToolResult> => {
    const unknown = toErrorInfo(effectError("UNKNOWN", "what became of the call is not known"));
    claim?.unknown({ code: String(unknown.code) });
    return failed(unknown);
  };
  let result: ToolResult;
  try {
    // The signal is the tool's to honour: nothing here races it.
    result = await tool.execute(args, context);
  } catch (error) {
    if (endsRun(error)) throw error;
    return claim === undefined ? failed(toErrorInfo(error)) : lost();
  }
  if (result === undefined) throw new TypeError("Cannot read properties of undefined (reading 'toolCallId')");
  if (claim !== undefined && (result.error !== undefined || result.toolCallId !== toolCallId || result.name !== name))
    return lost();
  result = (await middleware?.toolResult?.(result)) ?? result;
  evaluate("tool_output", call, options, result);
  result = redactor?.redact(result) ?? result;
  claim?.complete(result);
  await emit({ type: "tool_execution_finished", result });
  return result;
}
