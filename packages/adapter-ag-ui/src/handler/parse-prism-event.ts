import { isObject, type JsonObjectLike } from "./bounded-json.ts";
import type {
  PrismContent,
  PrismError,
  PrismEvent,
  PrismInterruption,
  PrismMessage,
  PrismPendingDecision,
  PrismToolCall,
  PrismToolResult,
} from "./prism-events.ts";

/** Marks what was read already: nothing that came as JSON has it. */
const read = Symbol("read");

/** Reads an event of a session. One that is malformed, or of a type that means nothing here, is `other`; one that was read stays. */
export function parsePrismEvent(value: unknown): PrismEvent {
  if (isObject(value) && read in value) return value as unknown as PrismEvent;
  const source: JsonObjectLike = isObject(value) ? value : {};
  const envelope = { source, sessionId: text(source["sessionId"]), runId: text(source["runId"]) };
  return { [read]: true, ...envelope, ...(readBody(source) ?? { type: "other" }) } as unknown as PrismEvent;
}

type Body<E = PrismEvent> = E extends PrismEvent ? Omit<E, "source" | "sessionId" | "runId"> : never;

function readBody(source: JsonObjectLike): Body | undefined {
  const { type } = source;
  switch (type) {
    case "agent_started":
    case "agent_finished":
    case "run_limit_exceeded":
    case "event_subscriber_overflow":
      return { type };
    case "agent_suspended":
    case "agent_denied":
      return versioned(source, (version) => ({
        type,
        version,
        interruption: readInterruption(source["interruption"]),
      }));
    case "agent_resumed":
      return versioned(source, (version) => ({ type, version }));
    case "turn_started":
    case "turn_finished":
      return typeof source["turn"] === "number" ? { type, turn: source["turn"] } : undefined;
    case "message_started":
    case "message_finished": {
      const message = readMessage(source["message"]);
      return message && { type, message };
    }
    case "message_delta":
      return { type, content: readContent(source["content"]) };
    case "tool_execution_started":
    case "tool_execution_error": {
      const call = readCall(source["call"]);
      return call && { type, call };
    }
    case "tool_execution_progress": {
      const { toolCallId, name, progress, metadata } = source;
      if (typeof toolCallId !== "string" || typeof name !== "string") return undefined;
      return { type, toolCallId, name, progress, metadata };
    }
    case "tool_execution_finished": {
      const result = readResult(source["result"]);
      return result && { type, result };
    }
    case "tool_execution_blocked": {
      const { toolCallId, name } = source;
      return typeof toolCallId === "string" ? { type, toolCallId, name: text(name) ?? "tool" } : undefined;
    }
    case "error":
      return { type, error: readError(source["error"]) };
    default:
      return undefined;
  }
}

function versioned(source: JsonObjectLike, make: (version: number) => Body): Body | undefined {
  const { version } = source;
  return Number.isSafeInteger(version) ? make(version as number) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function readMessage(value: unknown): PrismMessage | undefined {
  if (!isObject(value) || typeof value["role"] !== "string") return undefined;
  return { id: text(value["id"]), role: value["role"], content: value["content"] };
}

function readContent(value: unknown): PrismContent {
  if (!isObject(value)) return { type: "other" };
  if (value["type"] === "text" && typeof value["text"] === "string") return { type: "text", text: value["text"] };
  if (value["type"] !== "thinking") return { type: "other" };
  return {
    type: "thinking",
    text: text(value["text"] ?? value["thinking"]) ?? "",
    signature: text(value["signature"]),
  };
}

function readCall(value: unknown): PrismToolCall | undefined {
  if (!isObject(value) || typeof value["id"] !== "string" || typeof value["name"] !== "string") return undefined;
  return { id: value["id"], name: value["name"], arguments: value["arguments"] };
}

function readResult(value: unknown): PrismToolResult | undefined {
  if (!isObject(value) || typeof value["toolCallId"] !== "string") return undefined;
  const { toolCallId, name, value: result, content, error } = value;
  return {
    toolCallId,
    name: text(name),
    value: result,
    content,
    ...(error === undefined ? {} : { error: readError(error) }),
  };
}

function readError(value: unknown): PrismError {
  return isObject(value) ? { message: text(value["message"]), code: text(value["code"]) } : {};
}

function readInterruption(value: unknown): PrismInterruption {
  const source: JsonObjectLike = isObject(value) ? value : {};
  const pending = source["pendingDecisions"];
  return {
    kind: text(source["kind"]) ?? "tool_approval",
    reason: text(source["reason"]) ?? "",
    toolCallId: text(source["toolCallId"]),
    toolName: text(source["toolName"]),
    pendingDecisions: Array.isArray(pending) ? pending.flatMap((decision) => readDecision(decision) ?? []) : [],
  };
}

function readDecision(value: unknown): PrismPendingDecision | undefined {
  if (!isObject(value) || typeof value["approvalId"] !== "string") return undefined;
  const scope = isObject(value["scope"]) ? value["scope"] : {};
  const schema = value["elicitationSchema"];
  return {
    approvalId: value["approvalId"],
    kind: text(value["kind"]) ?? "tool_approval",
    toolCallId: text(value["toolCallId"]),
    toolName: text(scope["toolName"]),
    reason: text(value["reason"]),
    ...(isObject(schema) ? { elicitationSchema: schema } : {}),
  };
}
