// Events of a Prism session by structure, of 0.0.25 and 0.3.0 alike. The package is not needed, at run time or in types.

/** A call that a Prism run makes. */
export interface PrismToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments?: unknown;
}

/** What a tool gave. */
export interface PrismToolResult {
  readonly toolCallId: string;
  readonly name?: string | undefined;
  readonly value?: unknown;
  readonly content?: unknown;
  readonly error?: PrismError | undefined;
}

export interface PrismError {
  readonly message?: string | undefined;
  readonly code?: string | undefined;
}

export interface PrismMessage {
  readonly id?: string | undefined;
  readonly role: string;
  readonly content: unknown;
}

/** One call that waits for a person. Its scope holds a hash of the arguments, never the arguments. */
export interface PrismPendingDecision {
  readonly approvalId: string;
  readonly kind: string;
  readonly toolCallId?: string | undefined;
  readonly reason?: string | undefined;
  readonly toolName?: string | undefined;
  readonly elicitationSchema?: Readonly<Record<string, unknown>> | undefined;
}

export interface PrismInterruption {
  readonly kind: string;
  readonly reason: string;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly pendingDecisions: readonly PrismPendingDecision[];
}

/** A block of what a model says. */
export type PrismContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string; readonly signature?: string | undefined }
  | { readonly type: "other" };

interface Envelope {
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
  /** The event as it came. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** The events that mean something here. All others are `other`. */
export type PrismEvent = Envelope &
  (
    | { readonly type: "agent_started" | "agent_finished" | "run_limit_exceeded" }
    | { readonly type: "event_subscriber_overflow" }
    | { readonly type: "agent_suspended"; readonly version: number; readonly interruption: PrismInterruption }
    | { readonly type: "agent_denied"; readonly version: number; readonly interruption: PrismInterruption }
    | { readonly type: "agent_resumed"; readonly version: number }
    | { readonly type: "turn_started" | "turn_finished"; readonly turn: number }
    | { readonly type: "message_started" | "message_finished"; readonly message: PrismMessage }
    | { readonly type: "message_delta"; readonly content: PrismContent }
    | { readonly type: "tool_execution_started"; readonly call: PrismToolCall }
    | {
        readonly type: "tool_execution_progress";
        readonly toolCallId: string;
        readonly name: string;
        readonly progress?: unknown;
        readonly metadata?: unknown;
      }
    | { readonly type: "tool_execution_finished"; readonly result: PrismToolResult }
    | { readonly type: "tool_execution_error"; readonly call: PrismToolCall }
    | { readonly type: "tool_execution_blocked"; readonly toolCallId: string; readonly name: string }
    | { readonly type: "error"; readonly error: PrismError }
    | { readonly type: "other" }
  );

export type PrismEventType = PrismEvent["type"];

export type PrismEventOf<T extends PrismEventType> = PrismEvent & { readonly type: T };
