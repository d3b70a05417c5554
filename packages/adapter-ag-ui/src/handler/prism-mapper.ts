import { isObject, isObjectText, type JsonObjectLike, textOf, toJson } from "../bounded-json.ts";
import { toIdentifier } from "../identifier.ts";
import type { Projection } from "../projection.ts";
import type { LooseEvent } from "./event-fields.ts";
import type { Limits } from "./limits.ts";
import type { PrismEvent, PrismEventOf } from "./prism-events.ts";
import { codeOf } from "./refusal.ts";
import { TurnMapper, type TurnPosition } from "./turn-mapper.ts";

export interface PrismMapperParts {
  readonly runId: string;
  readonly projection: Projection;
  readonly limits: Limits;
  /** Tools that the client runs: their results come from there. */
  readonly clientTools: ReadonlySet<string>;
  /** The client knows the outcome `cancelled`. */
  readonly isCurrent: boolean;
  /** Where an earlier page of the same run left off: calls that were begun there are not begun again. */
  readonly position?: TurnPosition | undefined;
  readonly onFault: (fault: string) => void;
}

/** Turns the events of a Prism run into events of AG-UI. What is not projected does not leave. */
export class PrismMapper {
  readonly #parts: PrismMapperParts;
  readonly #turns: TurnMapper;
  readonly #calls = new Set<string>();
  #isOverLimit = false;

  constructor(parts: PrismMapperParts) {
    this.#parts = parts;
    this.#turns = new TurnMapper(parts.runId, parts.position);
  }

  /** What another mapper needs to go on from here. */
  get position(): TurnPosition {
    return this.#turns.position;
  }

  /** The run passed a limit of its own, of which its stream may end before it says so. */
  get isOverLimit(): boolean {
    return this.#isOverLimit;
  }

  async map(event: PrismEvent): Promise<LooseEvent[]> {
    const events = await this.#standard(event);
    const isTerminal = events.some(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
    return isTerminal ? events : [...events, ...(await this.#extras(event))];
  }

  async #standard(event: PrismEvent): Promise<LooseEvent[]> {
    switch (event.type) {
      case "agent_finished":
        return [{ type: "RUN_FINISHED", outcome: { type: "success" } }];
      case "agent_suspended":
        return [...this.#turns.suspend(), await this.#runNews(event, "suspended")];
      case "agent_resumed":
        return [await this.#runNews(event, "running")];
      case "agent_denied":
        return [
          await this.#runNews(event, "denied"),
          // No error: somebody decided. And clients would keep the interrupt of a run that failed, and be stuck with it.
          {
            type: "RUN_FINISHED",
            result: { status: "denied" },
            ...(this.#parts.isCurrent ? { outcome: { type: "cancelled" } } : {}),
          },
        ];
      case "turn_started":
        return this.#turns.start(event.turn);
      case "turn_finished":
        return this.#turns.finish();
      case "message_started":
        return event.message.role === "assistant" ? this.#turns.startMessage(event.message.id) : [];
      case "message_delta":
        if (event.content.type === "text") return this.#turns.text(event.content.text);
        return event.content.type === "thinking" ? this.#thinking(event, event.content) : [];
      case "message_finished":
        return event.message.role === "assistant" ? this.#turns.finishMessage(textOf(event.message.content) ?? "") : [];
      case "tool_execution_started":
        return this.#call(event);
      case "tool_execution_finished": {
        const { toolCallId, name = "tool" } = event.result;
        const projected = await this.#project("toolResult", (give) => give(event.result));
        const content = typeof projected === "string" ? projected : JSON.stringify(projected);
        return this.#result(toolCallId, name, content ?? "completed");
      }
      case "tool_execution_error":
        return this.#result(event.call.id, event.call.name, "failed");
      case "tool_execution_blocked":
        return this.#result(event.toolCallId, event.name, "blocked");
      case "error": {
        const { message = "The run failed", code = codeOf("RUN") } = event.error;
        return [{ type: "RUN_ERROR", message, code }];
      }
      case "event_subscriber_overflow":
        return [{ type: "RUN_ERROR", message: "Events of the run were lost", code: codeOf("OVERFLOW") }];
      case "run_limit_exceeded":
        this.#isOverLimit = true;
        return [];
      case "other":
        return event.source["type"] === "delegated_agent_step" ? this.#delegated(event.source) : [];
      case "agent_started":
      case "tool_execution_progress":
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Shared state is not the place: a snapshot would wipe what others keep there. */
  async #runNews(
    event: PrismEventOf<"agent_suspended" | "agent_resumed" | "agent_denied">,
    status: string,
  ): Promise<LooseEvent> {
    const state = await this.#project("state", (give) => give(event));
    const value = { status, version: event.version, ...(state === undefined ? {} : { state }) };
    return { type: "CUSTOM", name: "humanplus.run", value };
  }

  async #call({ call }: PrismEventOf<"tool_execution_started">): Promise<LooseEvent[]> {
    if (this.#calls.has(call.id)) return [];
    const args = await this.#project("toolArguments", (give) => give(call));
    return this.#begin(call.id, call.name, typeof args === "string" ? args : "{}");
  }

  #begin(toolCallId: string, toolCallName: string, args: string): LooseEvent[] {
    this.#calls.add(toolCallId);
    return [
      ...this.#turns.beforeContent(),
      { type: "TOOL_CALL_START", toolCallId, toolCallName },
      { type: "TOOL_CALL_ARGS", toolCallId, delta: isObjectText(args) ? args : "{}" },
      { type: "TOOL_CALL_END", toolCallId },
    ];
  }

  #result(toolCallId: string, name: string, content: string): LooseEvent[] {
    const { position, clientTools } = this.#parts;
    const isBegun = this.#calls.has(toolCallId) || position !== undefined;
    const begin = isBegun ? this.#turns.beforeContent() : this.#begin(toolCallId, name, "{}");
    if (clientTools.has(name)) return begin;
    const messageId = `${toIdentifier(toolCallId).slice(0, 121)}:result`;
    return [...begin, { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
  }

  async #thinking(
    event: PrismEvent,
    thinking: { readonly text: string; readonly signature?: string | undefined },
  ): Promise<LooseEvent[]> {
    const shown = await this.#project("reasoning", (give) => give(thinking, event));
    if (!isObject(shown)) return [];
    const { text, encryptedValue } = shown;
    return this.#turns.think(
      typeof text === "string" ? text : undefined,
      typeof encryptedValue === "string" ? encryptedValue : undefined,
    );
  }

  /** Numbers and words of the host; what the other agent says of itself stays here. */
  #delegated({ stepIndex, state, kind }: JsonObjectLike): LooseEvent[] {
    const states = ["active", "done", "error"];
    const kinds = ["assistant", "tool", "subagent", "checkpoint", "unknown"];
    if (!Number.isSafeInteger(stepIndex) || !states.includes(String(state))) return [];
    const content = { stepIndex, state, kind: kinds.includes(String(kind)) ? kind : "unknown" };
    const messageId = `${toIdentifier(this.#parts.runId).slice(0, 118)}:delegated`;
    const activityType = "humanplus.delegated_agent_step";
    return [{ type: "ACTIVITY_SNAPSHOT", messageId, activityType, content, replace: true }];
  }

  async #extras(event: PrismEvent): Promise<LooseEvent[]> {
    const events: LooseEvent[] = [];
    const snapshot = await this.#project("stateSnapshot", (give) => give(event));
    if (snapshot !== undefined) events.push({ type: "STATE_SNAPSHOT", snapshot });
    const delta = await this.#project("stateDelta", (give) => give(event));
    if (Array.isArray(delta) && delta.length > 0) events.push({ type: "STATE_DELTA", delta });
    const messages = await this.#project("messages", (give) => give(event));
    if (Array.isArray(messages)) events.push({ type: "MESSAGES_SNAPSHOT", messages });
    const activity = await this.#project("activity", (give) => give(event));
    if (isObject(activity)) {
      const { type, ...members } = activity;
      events.push({ ...members, type: type === "delta" ? "ACTIVITY_DELTA" : "ACTIVITY_SNAPSHOT" });
    }
    const raw = await this.#project("raw", (give) => give(event));
    if (isObject(raw)) events.push({ ...raw, type: "RAW" });
    const custom = await this.#project("custom", (give) => give(event));
    if (isObject(custom)) events.push({ ...custom, type: "CUSTOM" });
    return events;
  }

  /** Calls a callback, if there is one. One that throws, or gives what is no JSON or is over a limit, gives nothing. */
  async #project<K extends keyof typeof maxBytesOf>(
    name: K,
    call: (give: NonNullable<Projection[K]>) => unknown,
  ): Promise<unknown> {
    const { projection, limits, onFault } = this.#parts;
    const give = projection[name];
    if (give === undefined) return undefined;
    try {
      const given = await call(give.bind(projection) as NonNullable<Projection[K]>);
      if (given === undefined) return undefined;
      const json = toJson(given, limits[maxBytesOf[name]], limits);
      if (json === undefined) onFault(`projection.${name} gave what is no JSON, or over a limit`);
      return json;
    } catch {
      onFault(`projection.${name} threw`);
      return undefined;
    }
  }
}

const maxBytesOf = {
  toolArguments: "maxTextBytes",
  toolResult: "maxTextBytes",
  state: "maxStateBytes",
  stateSnapshot: "maxStateBytes",
  stateDelta: "maxStateBytes",
  messages: "maxEventBytes",
  activity: "maxActivityBytes",
  reasoning: "maxReasoningBytes",
  raw: "maxRawEventBytes",
  custom: "maxEventBytes",
} as const;
