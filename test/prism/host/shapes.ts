/**
 * What this host hands to tools and takes from them, and what it keeps. It was written from what the real host was
 * observed to do, apart from the adapter's own description of it: that the two fit is part of what the tests show.
 */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export interface ErrorInfo {
  name?: string;
  message: string;
  code?: string | number;
  retryAfterMs?: number;
  cause?: unknown;
}

export interface ContentBlock {
  type: string;
  text?: string;
}

export interface ToolResult {
  toolCallId: string;
  name: string;
  content?: ContentBlock[];
  value?: unknown;
  error?: ErrorInfo;
  metadata?: Record<string, unknown>;
}

export interface ToolCall {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  /** Why the arguments of the model could not be read. */
  readonly argumentsError?: string;
}

export interface Identity {
  readonly id: string;
  readonly active: boolean;
}

export interface Ownership {
  readonly tenantId?: string;
  readonly accountId?: string;
  readonly userId?: string;
}

export interface ToolContext {
  sessionId: string;
  runId: string;
  toolCallId: string;
  signal?: AbortSignal;
  metadata?: Record<string, unknown>;
  identity?: Identity;
  idempotencyKey?: string;
  progress?(progress?: unknown, metadata?: Record<string, unknown>): void | Promise<void>;
}

/** What a classifier of effects and an elicitation are told. */
export type CallContext = Pick<ToolContext, "sessionId" | "runId" | "toolCallId" | "signal" | "metadata">;

export interface Effect {
  kind: "none" | "local_mutation" | "external_mutation";
  idempotency: "none" | "optional" | "required" | "tool_managed" | "unsupported";
}

export interface Elicitation {
  schema: JsonObject;
  reason?: string;
  validate?(payload: JsonObject): void;
}

export interface Tool {
  name: string;
  description?: string;
  parameters?: JsonObject;
  exclusive?: boolean;
  effect?: Effect | ((args: JsonObject, context: CallContext) => Effect | undefined);
  elicitation?(args: JsonObject, context: CallContext): Elicitation | undefined;
  execute(args: JsonObject, context: ToolContext): ToolResult | Promise<ToolResult>;
}

export interface Registry {
  register(tool: Tool): void;
  get(name: string): Tool | undefined;
  resolve(name: string): Tool;
  list(): Tool[];
}

/** The first block of a tool message; what providers read of it is in provider.ts. */
export interface ToolResultBlock {
  type: "tool_result";
  toolCallId: string;
  name: string;
  result?: unknown;
  error?: ErrorInfo;
}

export interface Message {
  id?: string;
  role: "system" | "user" | "assistant" | "tool";
  content: (ContentBlock | ToolCall | ToolResultBlock)[];
  metadata?: Record<string, unknown>;
}
