import { isObject } from "../bounded-json.ts";
import { any, type Members, or, type Reader, readMembers, shape, text } from "./members.ts";
import type { PrismEvent, PrismEventType } from "./prism-events.ts";

/** Marks what was read already: nothing that came as JSON has it. */
const read = Symbol("read");

/** Reads an event of a session. One that is malformed, or of a type that means nothing here, is `other`; one that was read stays. */
export function parsePrismEvent(value: unknown): PrismEvent {
  if (isObject(value) && read in value) return value as unknown as PrismEvent;
  const source = isObject(value) ? value : {};
  const type = String(source["type"]);
  const body = Object.hasOwn(bodies, type) ? readMembers(source, bodies[type as KnownType], undefined) : type;
  const known = typeof body === "string" ? { type: "other" } : { type, ...body };
  const { sessionId, runId } = source;
  return {
    [read]: true,
    source,
    sessionId: text(sessionId, undefined),
    runId: text(runId, undefined),
    ...known,
  } as unknown as PrismEvent;
}

type KnownType = Exclude<PrismEventType, "other">;

const version: Reader = (value) => (Number.isSafeInteger(value) ? value : undefined);
const turn: Reader = (value) => (typeof value === "number" ? value : undefined);
const object: Reader = (value) => (isObject(value) ? value : undefined);
const message = { message: shape({ "id?": text, role: text, "content?": any }) };
const call = { call: shape({ id: text, name: text, "arguments?": any }) };
const error = or(shape({ "message?": text, "code?": text }), {});

const decision = shape({
  approvalId: text,
  kind: or(text, "tool_approval"),
  "toolCallId?": text,
  "scope?": shape({ "toolName?": text }),
  "reason?": text,
  "elicitationSchema?": object,
});

/** One call that waits says by its scope which tool it is of. */
const decisions: Reader = (value) =>
  Array.isArray(value)
    ? value.flatMap((item) => {
        const { scope, ...waiting } = (decision(item, undefined) ?? {}) as { scope?: object; approvalId?: string };
        return waiting.approvalId === undefined ? [] : [{ ...waiting, ...scope }];
      })
    : [];

const interruption = {
  kind: or(text, "tool_approval"),
  reason: or(text, ""),
  "toolCallId?": text,
  "toolName?": text,
  pendingDecisions: decisions,
};
const suspended = {
  version,
  interruption: or(shape(interruption), { kind: "tool_approval", reason: "", pendingDecisions: [] }),
};

const content: Reader = (value) => {
  const block = isObject(value) ? value : {};
  const { type, signature } = block;
  const words = text(block["text"] ?? block["thinking"], undefined);
  if (type === "text" && words !== undefined) return { type, text: words };
  return type === "thinking" ? { type, text: words ?? "", signature: text(signature, undefined) } : { type: "other" };
};

const bodies = {
  agent_started: {},
  agent_finished: {},
  run_limit_exceeded: {},
  event_subscriber_overflow: {},
  agent_suspended: suspended,
  agent_denied: suspended,
  agent_resumed: { version },
  turn_started: { turn },
  turn_finished: { turn },
  message_started: message,
  message_finished: message,
  message_delta: { content },
  tool_execution_started: call,
  tool_execution_error: call,
  tool_execution_progress: { toolCallId: text, name: text, "progress?": any, "metadata?": any },
  tool_execution_finished: {
    result: shape({
      toolCallId: text,
      "name?": text,
      "value?": any,
      "content?": any,
      "error?": (value) => (value === undefined ? undefined : error(value, undefined)),
    }),
  },
  tool_execution_blocked: { toolCallId: text, name: or(text, "tool") },
  error: { error },
} as const satisfies Readonly<Record<KnownType, Members>>;
