// AG-UI by structure: what every client from 0.0.57 to 1.0.0 takes. No AG-UI package is needed, at run time or in types.
// Its `EventType` is an enum that is nominal per copy of the package, so `type` is a literal here: a typed client takes
// these events after a cast, and the wire knows no difference.

import type { JsonObject } from "@human-plus/core";

/** Any JSON. */
export type AgUiJson = string | number | boolean | null | readonly AgUiJson[] | { readonly [key: string]: AgUiJson };

/** One operation of RFC 6902. Pointers are those of RFC 6901. */
export type AgUiPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: AgUiJson }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

/** What all events may carry. Absent members are left out: never `null`. */
export interface AgUiEventBase {
  /** Milliseconds since the epoch: a whole number, since 1.0.0 refuses fractions. */
  timestamp?: number | undefined;
  /** Merged key by key into the message or call that the event makes, by clients from 0.0.59 on. Ours is under `humanplus`. */
  metadata?: JsonObject | undefined;
}

/** Where a run waits for a person. Blocks the thread until a resume covers it. */
export interface AgUiInterrupt {
  /** Unique on the thread. */
  id: string;
  /** `tool_call`, `input_required`, `confirmation`, or one's own as `<vendor>:<name>`. */
  reason: string;
  /** For people. */
  message?: string | undefined;
  toolCallId?: string | undefined;
  /** What the payload of a resume has to be: a JSON Schema. */
  responseSchema?: JsonObject | undefined;
  /** ISO 8601. */
  expiresAt?: string | undefined;
  metadata?: JsonObject | undefined;
}

/**
 * How a run ended; absent is success. Clients before 1.0.0 refuse `cancelled` and `pendingToolCallIds`: only for peers
 * whose request said `protocolVersion`.
 */
export type AgUiRunOutcome =
  | { type: "success"; pendingToolCallIds?: readonly string[] | undefined }
  | { type: "interrupt"; interrupts: readonly [AgUiInterrupt, ...AgUiInterrupt[]] }
  | { type: "cancelled" };

/** Fields of each event besides `AgUiEventBase`, by type. */
export interface AgUiEventFields {
  RUN_STARTED: {
    threadId: string;
    runId: string;
    parentRunId?: string | undefined;
    /** The producer's own. Clients before 1.0.0 ignore it. */
    protocolVersion?: string | undefined;
  };
  RUN_FINISHED: {
    threadId: string;
    runId: string;
    result?: AgUiJson | undefined;
    outcome?: AgUiRunOutcome | undefined;
  };
  RUN_ERROR: { message: string; code?: string | undefined };
  STEP_STARTED: { stepName: string };
  STEP_FINISHED: { stepName: string };
  TEXT_MESSAGE_START: {
    messageId: string;
    role: "developer" | "system" | "assistant" | "user";
    name?: string | undefined;
  };
  TEXT_MESSAGE_CONTENT: { messageId: string; delta: string };
  TEXT_MESSAGE_END: { messageId: string };
  TOOL_CALL_START: { toolCallId: string; toolCallName: string; parentMessageId?: string | undefined };
  TOOL_CALL_ARGS: { toolCallId: string; delta: string };
  TOOL_CALL_END: { toolCallId: string };
  /** The content is a text: clients before 1.0.0 refuse parts. */
  TOOL_CALL_RESULT: { messageId: string; toolCallId: string; content: string; role: "tool" };
  STATE_SNAPSHOT: { snapshot: AgUiJson };
  STATE_DELTA: { delta: readonly AgUiPatchOperation[] };
  MESSAGES_SNAPSHOT: { messages: readonly AgUiMessage[] };
  ACTIVITY_SNAPSHOT: {
    messageId: string;
    activityType: string;
    content: JsonObject;
    /** Absent is true. */
    replace?: boolean | undefined;
  };
  /** Only after a snapshot of the same id in the same stream: clients skip others without a word. */
  ACTIVITY_DELTA: { messageId: string; activityType: string; patch: readonly AgUiPatchOperation[] };
  RAW: { event: AgUiJson; source?: string | undefined };
  CUSTOM: { name: string; value: AgUiJson };
  REASONING_START: { messageId: string };
  REASONING_MESSAGE_START: { messageId: string; role: "reasoning" };
  REASONING_MESSAGE_CONTENT: { messageId: string; delta: string };
  REASONING_MESSAGE_END: { messageId: string };
  REASONING_END: { messageId: string };
  REASONING_ENCRYPTED_VALUE: { subtype: "tool-call" | "message"; entityId: string; encryptedValue: string };
}

export type AgUiEventType = keyof AgUiEventFields;

/** The event of one type. */
export type AgUiEventOf<T extends AgUiEventType> = T extends AgUiEventType
  ? { type: T } & AgUiEventBase & AgUiEventFields[T]
  : never;

/** Any event of the subset that all clients take. Chunks, subagents and `THINKING_*` are not in it. */
export type AgUiEvent = AgUiEventOf<AgUiEventType>;

/** A call of an assistant, in a message. */
export interface AgUiToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** One part of what a user said: text, or media by its `type`. */
export type AgUiContentPart = { type: "text"; text: string } | { type: string; [key: string]: unknown };

export type AgUiMessage =
  | { id: string; role: "user"; content: string | readonly AgUiContentPart[]; name?: string | undefined }
  | { id: string; role: "developer" | "system"; content: string; name?: string | undefined }
  | {
      id: string;
      role: "assistant";
      content?: string | undefined;
      name?: string | undefined;
      toolCalls?: readonly AgUiToolCall[] | undefined;
    }
  | { id: string; role: "tool"; toolCallId: string; content: string; error?: string | undefined }
  | { id: string; role: "activity"; activityType: string; content: JsonObject }
  | { id: string; role: "reasoning"; content: string; encryptedValue?: string | undefined };

/** A tool that a run may call. */
export interface AgUiTool {
  /** At most 64 of `A-Za-z0-9_-`, as the strictest model provider has it. */
  name: string;
  /** Required by every version, if only as `""`. */
  description: string;
  /** A JSON Schema. */
  parameters?: JsonObject | undefined;
}

/** Something for the model to know, beside the conversation. */
export interface AgUiContext {
  description: string;
  value: string;
}

/** What a person answered to an interrupt. A denial is `resolved`; `cancelled` says that nobody decided. */
export interface AgUiResumeEntry {
  interruptId: string;
  status: "resolved" | "cancelled";
  payload?: unknown;
  metadata?: JsonObject | undefined;
}

/** What a client asks of a run. Peers may leave out what is optional here, whatever their version says. */
export interface AgUiRunInput {
  threadId: string;
  runId: string;
  parentRunId?: string | undefined;
  messages: readonly AgUiMessage[];
  tools?: readonly AgUiTool[] | undefined;
  context?: readonly AgUiContext[] | undefined;
  state?: unknown;
  forwardedProps?: unknown;
  resume?: readonly AgUiResumeEntry[] | undefined;
  /** Absent from peers before 1.0.0. */
  protocolVersion?: string | undefined;
}

/** The version of the protocol whose subset this is. */
export const agUiProtocolVersion = "1.0";

/** What keeps our names apart from those of others. */
export const agUiNames = {
  /** Begins ids of messages and interrupts. */
  id: "humanplus-",
  /** Begins activity types and names of `CUSTOM` events. */
  type: "humanplus.",
  /** Begins reasons of interrupts. */
  reason: "humanplus:",
  /** The key in `forwardedProps`, `metadata` and shared state. */
  key: "humanplus",
} as const;
