import { isObject, type JsonObjectLike, toJson, truncate } from "../bounded-json.ts";
import { type AgUiEvent, type AgUiInterrupt, type AgUiMessage, agUiProtocolVersion } from "../events.ts";
import { createChunkExpander } from "./chunk-expander.ts";
import { type ReadEvent, readEvent } from "./event-fields.ts";
import { createEventWriter } from "./event-writer.ts";
import { createHeldCalls } from "./held-calls.ts";
import { readMessages } from "./input-messages.ts";
import { readInterrupts } from "./interrupt-list.ts";
import type { Limits } from "./limits.ts";
import { createMessageIds } from "./message-ids.ts";
import { createOpenItems } from "./open-items.ts";
import { codeOf, type FailureName } from "./refusal.ts";
import { createSharedDocuments } from "./shared-documents.ts";

export interface RunEdgeParts {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  readonly messages: readonly AgUiMessage[];
  readonly state?: unknown;
  readonly clientTools: ReadonlySet<string>;
  /** The run goes on with what an earlier one began. */
  readonly goesOn: boolean;
  /** The client said `protocolVersion`, so it knows what 1.0 added. */
  readonly isCurrent: boolean;
  readonly limits: Limits;
  readonly send: (event: AgUiEvent, text: string) => number;
  /** Something was repaired or left out. */
  readonly onFault: (fault: string) => void;
}

/** What a projection may say. */
const standing: ReadonlySet<string> = new Set([
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "MESSAGES_SNAPSHOT",
  "RAW",
  "CUSTOM",
]);

/**
 * Where events leave: whatever a run says, what goes out begins with `RUN_STARTED`, is in order for clients of every version,
 * and has exactly one terminal event, after which there is nothing.
 */
export interface RunEdge {
  readonly isEnded: boolean;
  /** The run said itself that it began, so it has to say that it ended. */
  readonly sawStart: boolean;
  /** The run has a way of its own to say that it ended. */
  expectsEnd(): void;
  start(): void;
  /** Takes what a run says. Types that nobody knows are left out, and after the end so is everything. */
  accept(event: unknown): void;
  /** Takes what a projection says beside the run. */
  acceptBeside(event: unknown): void;
  /** Ends the run well. */
  finish(result?: unknown, outcome?: unknown): void;
  /** Ends the run badly. The first end counts. @param code of the run's own, instead of the name's */
  fail(name: FailureName, message: string, code?: string): void;
}

export function createRunEdge(parts: RunEdgeParts): RunEdge {
  const { threadId, runId, parentRunId, isCurrent, limits, onFault } = parts;
  const ids = createMessageIds(parts.messages);
  const writer = createEventWriter(parts);
  const items = createOpenItems(write, onFault);
  const calls = createHeldCalls({
    ...parts,
    ids,
    maxHeldBytes: limits.maxStreamBytes,
    write,
    writeCall: (call) => hasRoomFor(call[1].delta.length) && writer.writeAll(call),
    onBroken(fault) {
      onFault(fault);
      fail("EVENT", noEvent);
    },
  });
  const documents = createSharedDocuments({ ...parts, ids, write });
  const expand = createChunkExpander(dispatch, onFault);
  let snapshot: ReadEvent | undefined;
  let isEnded = false;
  let sawStart = false;

  function accept(event: unknown): void {
    if (isEnded) return;
    const read = readEvent(event, limits);
    if (typeof read === "string") onFault(read);
    else if (read !== undefined) expand(read);
  }

  function dispatch(event: ReadEvent): void {
    if (isEnded) return;
    switch (event.type) {
      case "RUN_STARTED":
        sawStart = true;
        break;
      case "RUN_FINISHED":
        finish(event["result"], event["outcome"]);
        break;
      case "RUN_ERROR":
        fail("RUN", String(event["message"]), event["code"] as string | undefined);
        break;
      case "TOOL_CALL_START":
      case "TOOL_CALL_ARGS":
      case "TOOL_CALL_END":
      case "TOOL_CALL_RESULT":
        calls.accept(event);
        break;
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
      case "ACTIVITY_SNAPSHOT":
      case "ACTIVITY_DELTA":
        documents.accept(event);
        break;
      case "MESSAGES_SNAPSHOT":
        snapshot = event;
        break;
      case "RAW":
        if (JSON.stringify(event["event"]).length <= limits.maxRawEventBytes) write(event as unknown as AgUiEvent);
        break;
      case "CUSTOM":
        custom(event);
        break;
      case "REASONING_ENCRYPTED_VALUE":
        if (event["subtype"] === "tool-call" || event["subtype"] === "message") write(event as unknown as AgUiEvent);
        break;
      default:
        if (isOwnItem(event)) items.accept(event);
        else onFault(`${event.type}: ${event["messageId"]} is another message`);
    }
    if (!items.hasMessage()) releaseSnapshot();
  }

  /** An id that stands for an activity or a result cannot be a text as well. */
  function isOwnItem({ type, messageId: id, role = "assistant" }: ReadEvent): boolean {
    const isText = type.startsWith("TEXT_");
    if (typeof id !== "string" || !(isText || type.startsWith("REASONING_MESSAGE_"))) return true;
    const family = isText ? (role === "assistant" ? role : "user") : "reasoning";
    return items.isOpen(id) || type.endsWith("_END") || ids.claim(id, family);
  }

  function custom(event: ReadEvent): void {
    const value = toJson(event["value"] ?? null, limits.maxEventBytes, limits);
    if (value === undefined) onFault("CUSTOM: the value is no JSON, or over a limit");
    else write({ ...event, value } as unknown as AgUiEvent);
  }

  /** A snapshot of all messages waits until none is being written. */
  function releaseSnapshot(): void {
    const event = snapshot;
    if (event === undefined) return;
    snapshot = undefined;
    try {
      const messages = readMessages(event["messages"], limits, { activities: true });
      if (writer.hasRoomFor(0) && writer.write({ ...event, messages } as unknown as AgUiEvent)) ids.learn(messages);
    } catch {
      onFault("MESSAGES_SNAPSHOT: the messages are none, or over a limit");
    }
  }

  function write(event: AgUiEvent): boolean {
    return hasRoomFor(0) && writer.write(event);
  }

  function hasRoomFor(bytes: number): boolean {
    if (isEnded) return false;
    if (writer.hasRoomFor(bytes)) return true;
    fail("LIMIT", "The stream exceeds its limit");
    return false;
  }

  function finish(result?: unknown, outcome?: unknown): void {
    if (isEnded) return;
    const kept = result === undefined ? undefined : toJson(result, limits.maxEventBytes / 2, limits);
    const said = isObject(outcome) ? outcome : {};
    if (said["type"] === "cancelled" && !isCurrent) {
      fail("CANCELLED", "The run was cancelled");
      return;
    }
    let interrupts: readonly AgUiInterrupt[] | undefined;
    if (said["type"] === "interrupt") {
      interrupts = readInterrupts(said["interrupts"], limits);
      if (interrupts === undefined) {
        fail("EVENT", noEvent);
        return;
      }
    }
    calls.settle();
    if (isEnded) return; // a call of a client's tool was broken
    close();
    writer.end({
      type: "RUN_FINISHED",
      threadId,
      runId,
      ...(kept === undefined || kept === null ? {} : { result: kept }),
      ...(interrupts === undefined ? outcomeOf(said) : { outcome: { type: "interrupt", interrupts } }),
    } as AgUiEvent);
  }

  function outcomeOf({ type, pendingToolCallIds: pending }: JsonObjectLike): object {
    if (type === "cancelled") return { outcome: { type } };
    if (type !== "success") return {};
    const known = Array.isArray(pending) && isCurrent ? pending.filter((id) => ids.calls.has(id)) : [];
    return { outcome: known.length > 0 ? { type, pendingToolCallIds: known } : { type } };
  }

  function fail(name: FailureName, message: string, code: string = codeOf(name)): void {
    if (isEnded) return;
    calls.drop();
    close();
    const text = truncate(message === "" ? "The run failed" : message, limits.maxErrorBytes);
    writer.end({ type: "RUN_ERROR", message: text, code: truncate(code, 256) });
  }

  function close(): void {
    isEnded = true;
    items.closeAll(writer.end);
    releaseSnapshot();
  }

  return {
    get isEnded() {
      return isEnded;
    },
    get sawStart() {
      return sawStart;
    },
    expectsEnd() {
      sawStart = true;
    },
    start() {
      const parent = parentRunId === undefined ? {} : { parentRunId };
      write({ type: "RUN_STARTED", threadId, runId, ...parent, protocolVersion: agUiProtocolVersion });
    },
    accept,
    acceptBeside(event) {
      if (isObject(event) && standing.has(String(event["type"]))) accept(event);
      else onFault("a projection may not say this");
    },
    finish,
    fail,
  };
}

const noEvent = "The run made an event that is none";
