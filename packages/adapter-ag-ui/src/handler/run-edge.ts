import { isObject, type JsonObjectLike, toJson, truncate } from "../bounded-json.ts";
import { type AgUiEvent, type AgUiInterrupt, type AgUiMessage, agUiProtocolVersion } from "../events.ts";
import { ChunkExpander } from "./chunk-expander.ts";
import { type ReadEvent, readEvent } from "./event-fields.ts";
import { EventWriter } from "./event-writer.ts";
import { HeldCalls, type WholeCall } from "./held-calls.ts";
import { MessageReader } from "./input-messages.ts";
import { readInterrupts } from "./interrupt-list.ts";
import type { Limits } from "./limits.ts";
import { MessageIds } from "./message-ids.ts";
import { OpenItems } from "./open-items.ts";
import { codeOf, type FailureName } from "./refusal.ts";
import { SharedDocuments } from "./shared-documents.ts";

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
export class RunEdge {
  readonly #parts: RunEdgeParts;
  readonly #writer: EventWriter;
  readonly #ids: MessageIds;
  readonly #open: OpenItems;
  readonly #calls: HeldCalls;
  readonly #documents: SharedDocuments;
  readonly #chunks: ChunkExpander;
  #snapshot: ReadEvent | undefined;
  #isEnded = false;
  /** The run said itself that it began, so it has to say that it ended. */
  #sawStart = false;

  constructor(parts: RunEdgeParts) {
    const { limits, onFault } = parts;
    this.#parts = parts;
    this.#writer = new EventWriter({ limits, send: parts.send, onFault });
    this.#ids = new MessageIds(parts.messages);
    const write = (event: AgUiEvent) => this.#write(event);
    this.#open = new OpenItems(write, onFault);
    this.#calls = new HeldCalls({
      ids: this.#ids,
      clientTools: parts.clientTools,
      answersEarlier: parts.goesOn,
      maxHeldBytes: limits.maxStreamBytes,
      write,
      writeCall: (call) => this.#writeCall(call),
      onFault,
      onBroken: (fault) => {
        onFault(fault);
        this.fail("EVENT", "The run made an event that is none");
      },
    });
    this.#documents = new SharedDocuments({ limits, ids: this.#ids, state: parts.state, write, onFault });
    this.#chunks = new ChunkExpander((event) => this.#dispatch(event), onFault);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get sawStart(): boolean {
    return this.#sawStart;
  }

  /** The run has a way of its own to say that it ended. */
  expectsEnd(): void {
    this.#sawStart = true;
  }

  start(): void {
    const { threadId, runId, parentRunId } = this.#parts;
    this.#write({
      type: "RUN_STARTED",
      threadId,
      runId,
      ...(parentRunId === undefined ? {} : { parentRunId }),
      protocolVersion: agUiProtocolVersion,
    });
  }

  /** Takes what a run says. Types that nobody knows are left out, and after the end so is everything. */
  accept(event: unknown): void {
    if (this.#isEnded) return;
    const read = readEvent(event, this.#parts.limits);
    if (read === undefined) return;
    if (typeof read === "string") {
      this.#parts.onFault(read);
      return;
    }
    this.#chunks.accept(read);
  }

  /** Takes what a projection says beside the run. @returns the events that went out */
  acceptBeside(event: unknown): void {
    if (isObject(event) && standing.has(String(event["type"]))) this.accept(event);
    else this.#parts.onFault("a projection may not say this");
  }

  /** Ends the run well. */
  finish({ result, outcome }: { readonly result?: unknown; readonly outcome?: unknown } = {}): void {
    if (this.#isEnded) return;
    const { threadId, runId, limits, isCurrent } = this.#parts;
    const kept = result === undefined ? undefined : toJson(result, limits.maxEventBytes / 2, limits);
    const { type } = isObject(outcome) ? outcome : { type: undefined };
    if (type === "cancelled" && !isCurrent) {
      this.fail("CANCELLED", "The run was cancelled");
      return;
    }
    let interrupts: readonly AgUiInterrupt[] | undefined;
    if (type === "interrupt") {
      interrupts = readInterrupts((outcome as JsonObjectLike)["interrupts"], limits);
      if (interrupts === undefined) {
        this.fail("EVENT", "The run made an event that is none");
        return;
      }
    }
    this.#calls.settle();
    if (this.#isEnded) return; // a call of a client's tool was broken
    this.#close();
    this.#writer.end({
      type: "RUN_FINISHED",
      threadId,
      runId,
      ...(kept === undefined || kept === null ? {} : { result: kept }),
      ...(interrupts === undefined ? this.#outcomeOf(type, outcome) : { outcome: { type: "interrupt", interrupts } }),
    } as AgUiEvent);
  }

  /** Ends the run badly. The first end counts. @param code of the run's own, instead of the name's */
  fail(name: FailureName, message: string, code: string = codeOf(name)): void {
    if (this.#isEnded) return;
    this.#calls.drop();
    this.#close();
    const text = truncate(message === "" ? "The run failed" : message, this.#parts.limits.maxErrorBytes);
    this.#writer.end({ type: "RUN_ERROR", message: text, code: truncate(code, 256) });
  }

  #close(): void {
    this.#isEnded = true;
    this.#open.closeAll((event) => this.#writer.end(event));
    this.#releaseSnapshot();
  }

  #outcomeOf(type: unknown, outcome: unknown): object {
    const { isCurrent } = this.#parts;
    if (type === "cancelled") return { outcome: { type } };
    const pending = isObject(outcome) ? outcome["pendingToolCallIds"] : undefined;
    const ids = Array.isArray(pending) ? pending.filter((id) => typeof id === "string" && this.#ids.hasCall(id)) : [];
    if (type === "success" && isCurrent && ids.length > 0) return { outcome: { type, pendingToolCallIds: ids } };
    return type === "success" ? { outcome: { type } } : {};
  }

  #dispatch(event: ReadEvent): void {
    if (this.#isEnded) return;
    switch (event.type) {
      case "RUN_STARTED":
        this.#sawStart = true;
        return;
      case "RUN_FINISHED":
        this.finish({ result: event["result"], outcome: event["outcome"] });
        return;
      case "RUN_ERROR":
        this.fail("RUN", String(event["message"]), event["code"] as string | undefined);
        return;
      case "TOOL_CALL_START":
      case "TOOL_CALL_ARGS":
      case "TOOL_CALL_END":
      case "TOOL_CALL_RESULT":
        this.#calls.accept(event);
        break;
      case "STATE_SNAPSHOT":
      case "STATE_DELTA":
      case "ACTIVITY_SNAPSHOT":
      case "ACTIVITY_DELTA":
        this.#documents.accept(event);
        return;
      case "MESSAGES_SNAPSHOT":
        this.#snapshot = event;
        break;
      case "RAW":
        if (JSON.stringify(event["event"]).length <= this.#parts.limits.maxRawEventBytes)
          this.#write(event as unknown as AgUiEvent);
        return;
      case "CUSTOM":
        this.#custom(event);
        return;
      case "REASONING_ENCRYPTED_VALUE":
        if (event["subtype"] === "tool-call" || event["subtype"] === "message")
          this.#write(event as unknown as AgUiEvent);
        return;
      default:
        this.#message(event);
    }
    if (!this.#open.hasMessage) this.#releaseSnapshot();
  }

  /** An id that stands for an activity or a result cannot be a text as well. */
  #message(event: ReadEvent): void {
    const id = event["messageId"];
    const isText = event.type.startsWith("TEXT_");
    if (typeof id === "string" && (isText || event.type.startsWith("REASONING_MESSAGE_"))) {
      const family = isText
        ? event["role"] === undefined || event["role"] === "assistant"
          ? "assistant"
          : "user"
        : "reasoning";
      if (!this.#open.isOpen(id) && !event.type.endsWith("_END") && !this.#ids.claim(id, family)) {
        this.#parts.onFault(`${event.type}: ${id} is another message`);
        return;
      }
    }
    this.#open.accept(event);
  }

  #custom(event: ReadEvent): void {
    const { limits, onFault } = this.#parts;
    const value = toJson(event["value"] ?? null, limits.maxEventBytes, limits);
    if (value === undefined) {
      onFault("CUSTOM: the value is no JSON, or over a limit");
      return;
    }
    this.#write({ ...event, value } as unknown as AgUiEvent);
  }

  /** A snapshot of all messages waits until none is being written. */
  #releaseSnapshot(): void {
    const event = this.#snapshot;
    if (event === undefined) return;
    this.#snapshot = undefined;
    const { limits, onFault } = this.#parts;
    try {
      const messages = new MessageReader(limits, { activities: true }).readList(event["messages"]);
      if (!this.#writer.isFull && this.#writer.write({ ...event, messages } as unknown as AgUiEvent))
        this.#ids.learn(messages);
    } catch {
      onFault("MESSAGES_SNAPSHOT: the messages are none, or over a limit");
    }
  }

  #write(event: AgUiEvent): boolean {
    return this.#hasRoomFor(0) && this.#writer.write(event);
  }

  #writeCall(call: WholeCall): boolean {
    return this.#hasRoomFor(call[1].delta.length) && this.#writer.writeAll(call);
  }

  #hasRoomFor(bytes: number): boolean {
    if (this.#isEnded) return false;
    if (this.#writer.hasRoomFor(bytes)) return true;
    this.fail("LIMIT", "The stream exceeds its limit");
    return false;
  }
}
