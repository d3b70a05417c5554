import type { JsonObject } from "@human-plus/core";
import { isObject, type JsonObjectLike, toJson } from "../bounded-json.ts";
import type { AgUiEvent, AgUiEventType } from "../events.ts";
import { toIdentifier } from "../identifier.ts";
import type { Limits } from "./limits.ts";
import { type Members, type Reader, readMembers, text } from "./members.ts";

/** An AG-UI event before it is checked. */
export type LooseEvent = { readonly type: string; readonly [member: string]: unknown };

type KnownType = AgUiEventType | "TEXT_MESSAGE_CHUNK" | "TOOL_CALL_CHUNK" | "REASONING_MESSAGE_CHUNK";

const roles: ReadonlySet<unknown> = new Set(["developer", "system", "assistant", "user"]);

const given: Reader = (value) => value ?? undefined;
const id: Reader = (value) => (typeof value === "string" && value !== "" ? toIdentifier(value) : undefined);
const role: Reader = (value) => (roles.has(value) ? value : undefined);
const flag: Reader = (value) => (typeof value === "boolean" ? value : undefined);
const json: Reader<Limits> = (value, limits) =>
  toJson(value, Math.max(limits.maxStateBytes, limits.maxRawEventBytes), limits);
const object: Reader<Limits> = (value, limits) =>
  isObject(value) ? toJson(value, limits.maxActivityBytes, limits) : undefined;

/** What each event may hold besides `timestamp` and `metadata`. Clients warn of other members, or take them for ours. */
const fields = {
  RUN_STARTED: {},
  RUN_FINISHED: { "result?": given, "outcome?": given },
  RUN_ERROR: { message: text, "code?": text },
  STEP_STARTED: { stepName: text },
  STEP_FINISHED: { stepName: text },
  TEXT_MESSAGE_START: { messageId: id, "role?": role, "name?": text },
  TEXT_MESSAGE_CONTENT: { messageId: id, delta: text },
  TEXT_MESSAGE_END: { messageId: id },
  TEXT_MESSAGE_CHUNK: { "messageId?": id, "role?": role, "name?": text, "delta?": text },
  TOOL_CALL_START: { toolCallId: id, toolCallName: text, "parentMessageId?": id },
  TOOL_CALL_ARGS: { toolCallId: id, delta: text },
  TOOL_CALL_END: { toolCallId: id },
  TOOL_CALL_CHUNK: { "toolCallId?": id, "toolCallName?": text, "parentMessageId?": id, "delta?": text },
  TOOL_CALL_RESULT: { "messageId?": id, toolCallId: id, content: given },
  STATE_SNAPSHOT: { snapshot: json },
  STATE_DELTA: { delta: given },
  MESSAGES_SNAPSHOT: { messages: given },
  ACTIVITY_SNAPSHOT: { messageId: id, activityType: text, content: object, "replace?": flag },
  ACTIVITY_DELTA: { messageId: id, activityType: text, patch: given },
  RAW: { event: json, "source?": text },
  CUSTOM: { name: text, "value?": given },
  REASONING_START: { messageId: id },
  REASONING_MESSAGE_START: { messageId: id },
  REASONING_MESSAGE_CONTENT: { messageId: id, delta: text },
  REASONING_MESSAGE_END: { messageId: id },
  REASONING_MESSAGE_CHUNK: { "messageId?": id, "delta?": text },
  REASONING_END: { messageId: id },
  REASONING_ENCRYPTED_VALUE: { subtype: text, entityId: id, encryptedValue: text },
} as const satisfies Readonly<Record<KnownType, Members<Limits>>>;

/** An event whose members are of the right types. What lists, patches and outcomes hold is not yet read. */
export interface ReadEvent {
  readonly type: KnownType;
  readonly timestamp?: number;
  readonly metadata?: JsonObject;
  readonly [member: string]: unknown;
}

/** Metadata above this would leave no room in an event for what it says. */
const MAX_METADATA_BYTES = 512;

/** @returns the event, or what is wrong with it; nothing for a type that is not known */
export function readEvent(event: unknown, limits: Limits): ReadEvent | string | undefined {
  if (!isObject(event) || typeof event["type"] !== "string") return "is no event";
  const { type } = event;
  if (!Object.hasOwn(fields, type)) return undefined;
  const read = readMembers<Limits>(event, fields[type as KnownType], limits);
  if (typeof read === "string") return `${type}: ${read} is missing, or not what it should be`;
  return { type, ...read, ...readEnvelope(event, limits) } as ReadEvent;
}

function readEnvelope({ timestamp: said, metadata }: JsonObjectLike, limits: Limits): Partial<AgUiEvent> {
  const timestamp = typeof said === "number" ? Math.trunc(said) : undefined;
  const kept = isObject(metadata) ? toJson(metadata, MAX_METADATA_BYTES, limits) : undefined;
  return {
    ...(Number.isSafeInteger(timestamp) ? { timestamp } : {}),
    ...(kept === undefined ? {} : { metadata: kept as JsonObject }),
  };
}
