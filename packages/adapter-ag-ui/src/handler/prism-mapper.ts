import { isObject, isObjectText, type JsonObjectLike, textOf, toJson } from "../bounded-json.ts";
import { toIdentifier } from "../identifier.ts";
import type { Projection } from "../projection.ts";
import type { LooseEvent } from "./event-fields.ts";
import type { Limits } from "./limits.ts";
import type { PrismEvent, PrismEventOf } from "./prism-events.ts";
import { codeOf } from "./refusal.ts";
import { createTurnMapper, type TurnPosition } from "./turn-mapper.ts";

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
export interface PrismMapper {
  map(event: PrismEvent): Promise<LooseEvent[]>;
  /** What another mapper needs to go on from here. */
  readonly position: TurnPosition;
  /** The run passed a limit of its own, of which its stream may end before it says so. */
  readonly isOverLimit: boolean;
}

export function createPrismMapper({
  runId,
  projection,
  limits,
  clientTools,
  isCurrent,
  position,
  onFault,
}: PrismMapperParts): PrismMapper {
  const turns = createTurnMapper(runId, position);
  const calls = new Set<string>();
  let isOverLimit = false;

  async function standard(event: PrismEvent): Promise<LooseEvent[]> {
    switch (event.type) {
      case "agent_finished":
        return [{ type: "RUN_FINISHED", outcome: { type: "success" } }];
      case "agent_suspended": // the turn that was announced last never came
        return [...turns.finish(), await runNews(event, "suspended")];
      case "agent_resumed":
        return [await runNews(event, "running")];
      case "agent_denied":
        return [
          await runNews(event, "denied"),
          // No error: somebody decided. And clients would keep the interrupt of a run that failed, and be stuck with it.
          {
            type: "RUN_FINISHED",
            result: { status: "denied" },
            ...(isCurrent ? { outcome: { type: "cancelled" } } : {}),
          },
        ];
      case "turn_started":
        return turns.start(event.turn);
      case "turn_finished":
        return turns.finish();
      case "message_started":
        return event.message.role === "assistant" ? turns.startMessage(event.message.id) : [];
      case "message_delta": {
        const { content } = event;
        if (content.type === "text") return turns.text(content.text);
        const shown = content.type === "thinking" ? await project("reasoning", content, event) : undefined;
        return isObject(shown) ? turns.think(shown) : [];
      }
      case "message_finished":
        return event.message.role === "assistant" ? turns.finishMessage(textOf(event.message.content) ?? "") : [];
      case "tool_execution_started": {
        const { call } = event;
        if (calls.has(call.id)) return [];
        const args = await project("toolArguments", call);
        return begin(call.id, call.name, typeof args === "string" && isObjectText(args) ? args : "{}");
      }
      case "tool_execution_finished": {
        const { toolCallId, name = "tool" } = event.result;
        const projected = await project("toolResult", event.result);
        const content = typeof projected === "string" ? projected : JSON.stringify(projected);
        return result(toolCallId, name, content ?? "completed");
      }
      case "tool_execution_error":
        return result(event.call.id, event.call.name, "failed");
      case "tool_execution_blocked":
        return result(event.toolCallId, event.name, "blocked");
      case "error": {
        const { message = "The run failed", code = codeOf("RUN") } = event.error;
        return [{ type: "RUN_ERROR", message, code }];
      }
      case "event_subscriber_overflow":
        return [{ type: "RUN_ERROR", message: "Events of the run were lost", code: codeOf("OVERFLOW") }];
      case "run_limit_exceeded":
        isOverLimit = true;
        return [];
      case "other":
        return event.source["type"] === "delegated_agent_step" ? delegated(event.source) : [];
      case "agent_started":
      case "tool_execution_progress":
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Shared state is not the place: a snapshot would wipe what others keep there. */
  async function runNews(
    event: PrismEventOf<"agent_suspended" | "agent_resumed" | "agent_denied">,
    status: string,
  ): Promise<LooseEvent> {
    const state = await project("state", event);
    const value = { status, version: event.version, ...(state === undefined ? {} : { state }) };
    return { type: "CUSTOM", name: "humanplus.run", value };
  }

  function begin(toolCallId: string, toolCallName: string, delta: string): LooseEvent[] {
    calls.add(toolCallId);
    return [
      ...turns.beforeContent(),
      { type: "TOOL_CALL_START", toolCallId, toolCallName },
      { type: "TOOL_CALL_ARGS", toolCallId, delta },
      { type: "TOOL_CALL_END", toolCallId },
    ];
  }

  function result(toolCallId: string, name: string, content: string): LooseEvent[] {
    const isBegun = calls.has(toolCallId) || position !== undefined;
    const events = isBegun ? turns.beforeContent() : begin(toolCallId, name, "{}");
    if (clientTools.has(name)) return events;
    const messageId = `${toIdentifier(toolCallId).slice(0, 121)}:result`;
    return [...events, { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
  }

  /** Numbers and words of the host; what the other agent says of itself stays here. */
  function delegated({ stepIndex, state, kind }: JsonObjectLike): LooseEvent[] {
    const states = ["active", "done", "error"];
    const kinds = ["assistant", "tool", "subagent", "checkpoint"];
    if (!Number.isSafeInteger(stepIndex) || !states.includes(String(state))) return [];
    const content = { stepIndex, state, kind: kinds.includes(String(kind)) ? kind : "unknown" };
    const messageId = `${toIdentifier(runId).slice(0, 118)}:delegated`;
    const activityType = "humanplus.delegated_agent_step";
    return [{ type: "ACTIVITY_SNAPSHOT", messageId, activityType, content, replace: true }];
  }

  async function extras(event: PrismEvent): Promise<LooseEvent[]> {
    const events: LooseEvent[] = [];
    const snapshot = await project("stateSnapshot", event);
    if (snapshot !== undefined) events.push({ type: "STATE_SNAPSHOT", snapshot });
    const delta = await project("stateDelta", event);
    if (Array.isArray(delta) && delta.length > 0) events.push({ type: "STATE_DELTA", delta });
    const messages = await project("messages", event);
    if (Array.isArray(messages)) events.push({ type: "MESSAGES_SNAPSHOT", messages });
    const activity = await project("activity", event);
    if (isObject(activity))
      events.push({ ...activity, type: activity["type"] === "delta" ? "ACTIVITY_DELTA" : "ACTIVITY_SNAPSHOT" });
    const raw = await project("raw", event);
    if (isObject(raw)) events.push({ ...raw, type: "RAW" });
    const custom = await project("custom", event);
    if (isObject(custom)) events.push({ ...custom, type: "CUSTOM" });
    return events;
  }

  /** Calls a callback, if there is one. One that throws, or gives what is no JSON or is over a limit, gives nothing. */
  async function project<K extends keyof typeof maxBytesOf>(
    name: K,
    ...said: Parameters<NonNullable<Projection[K]>>
  ): Promise<unknown> {
    const give = projection[name] as ((...said: readonly unknown[]) => unknown) | undefined;
    if (give === undefined) return undefined;
    try {
      const given = await give.apply(projection, said);
      if (given === undefined) return undefined;
      const json = toJson(given, limits[maxBytesOf[name]], limits);
      if (json === undefined) onFault(`projection.${name} gave what is no JSON, or over a limit`);
      return json;
    } catch {
      onFault(`projection.${name} threw`);
      return undefined;
    }
  }

  return {
    async map(event) {
      const events = await standard(event);
      const isTerminal = events.some(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
      return isTerminal ? events : [...events, ...(await extras(event))];
    },
    get position() {
      return turns.position;
    },
    get isOverLimit() {
      return isOverLimit;
    },
  };
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
