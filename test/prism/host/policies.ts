import type { ErrorInfo, JsonObject, Tool, ToolCall, ToolContext, ToolResult } from "./shapes.ts";

type Metadata = Record<string, unknown> | undefined;

/** Policies are told a tool's name and the metadata of the run. They see neither arguments nor effects. */
export interface PermissionPolicy {
  check(request: {
    kind: "tool";
    action: "execute";
    target: string;
    metadata?: Metadata;
  }): { allowed: boolean; reason?: string } | Promise<{ allowed: boolean; reason?: string }>;
}

export interface TrustPolicy {
  check(request: { kind: "tool"; target: string; capability: "execute"; metadata?: Metadata }): {
    trusted: boolean;
    reason?: string;
  };
}

/** Anything but undefined stops the call. One that throws ends the run. */
export type ToolValidator = (
  tool: Tool,
  args: JsonObject,
  context: Pick<ToolContext, "sessionId" | "runId" | "toolCallId">,
) => undefined | string | ErrorInfo | Promise<undefined | string | ErrorInfo>;

export interface ToolFilter {
  allow?: readonly string[];
  deny?: readonly string[];
}

export interface Guardrail {
  name: string;
  stage: "tool_input" | "tool_output";
  evaluate(context: { toolName: string; toolCallId: string; call: ToolCall; result?: ToolResult }): {
    action: "allow" | "block" | "tripwire" | "interrupt";
    reason?: string;
  };
}

export interface Middleware {
  toolCall?(call: ToolCall): ToolCall | Promise<ToolCall>;
  toolResult?(result: ToolResult): ToolResult | Promise<ToolResult>;
}

/** Exact names; deny wins, and every allow that is not empty has to name the tool. */
export function isFilteredOut(name: string, filters: readonly ToolFilter[]): boolean {
  return filters.some(
    ({ allow = [], deny = [] }) => deny.includes(name) || (allow.length > 0 && !allow.includes(name)),
  );
}

/** A policy of plain keys, `tool:<name>:execute`. */
export function permissionOf(keys: readonly string[]): PermissionPolicy {
  return { check: ({ kind, target, action }) => ({ allowed: keys.includes(`${kind}:${target}:${action}`) }) };
}
