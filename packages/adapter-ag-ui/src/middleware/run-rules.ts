import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { AgUiInterrupt, AgUiRunOutcome } from "../events.ts";
import { texts } from "./call-text.ts";
import { type HistoricCall, unansweredCalls } from "./history.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import { toolPrefix } from "./tool-names.ts";

function outcomeOf(event: BaseEvent): AgUiRunOutcome | undefined {
  return (event as unknown as { outcome?: AgUiRunOutcome }).outcome;
}

/** The agent itself waits, or was stopped: it is not run on. */
export function suspends(event: BaseEvent): boolean {
  const type = outcomeOf(event)?.type;
  return type !== undefined && type !== "success";
}

/** An end that does not name calls as pending which are answered by now. */
export function withoutPending(event: BaseEvent, answered: readonly { readonly id: string }[]): BaseEvent {
  const outcome = outcomeOf(event);
  if (outcome?.type !== "success" || outcome.pendingToolCallIds === undefined) return event;
  const ids = new Set(answered.map(({ id }) => id));
  const pendingToolCallIds = outcome.pendingToolCallIds.filter((id) => !ids.has(id));
  return { ...event, outcome: { ...outcome, pendingToolCallIds } } as BaseEvent;
}

/** An end that waits for people: for what the agent asked them, and for ours. */
export function withInterrupts(event: BaseEvent, ours: readonly AgUiInterrupt[]): BaseEvent {
  const outcome = outcomeOf(event);
  const theirs = outcome?.type === "interrupt" ? outcome.interrupts : [];
  return { ...event, outcome: { type: "interrupt", interrupts: [...theirs, ...ours] } } as BaseEvent;
}

/** Requests that hosts send with a run, and that are carried out once. */
const onceOnly = ["command", "a2uiAction", "a2uiActions", "__proxiedMCPRequest"];

/** The input of a continuation: without what was to happen once, and happened in the first round. */
export function withoutRequests(input: RunAgentInput): RunAgentInput {
  const { resume: _, ...rest } = input;
  const { forwardedProps } = input as { forwardedProps?: unknown };
  const isObject = typeof forwardedProps === "object" && forwardedProps !== null && !Array.isArray(forwardedProps);
  if (!isObject) return rest;
  const kept = Object.entries(forwardedProps).filter(([key]) => !onceOnly.includes(key));
  return { ...rest, forwardedProps: Object.fromEntries(kept) };
}

/** A call of ours in a history that has no answer there, and what can be said of it. It is never made again. */
export interface Repair {
  readonly call: HistoricCall;
  readonly content: string;
}

/** Whether a call is one of ours, or was once: a page may have a tool whose name looks so, and its calls are the page's to answer. */
export function isOursByName(input: RunAgentInput, name: string): (tool: string) => boolean {
  const theirs = new Set((input.tools ?? []).map((tool) => tool.name));
  return (tool) => tool.startsWith(toolPrefix(name)) && !theirs.has(tool);
}

/** Calls of ours that earlier runs left without an answer: providers refuse such a history. */
export function repairsOf(input: RunAgentInput, name: string, memory: ThreadMemory | undefined): Repair[] {
  const isOurs = isOursByName(input, name);
  return unansweredCalls(input.messages).flatMap((call) => {
    const known = memory?.answerOf(call);
    if (known === undefined && !isOurs(call.name)) return [];
    return [{ call, content: known ?? texts.lost }];
  });
}
