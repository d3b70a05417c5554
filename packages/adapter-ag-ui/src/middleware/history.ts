import {
  type AbstractAgent,
  type BaseEvent,
  defaultApplyEvents,
  type Message,
  type RunAgentInput,
} from "@ag-ui/client";
import { from, lastValueFrom, toArray } from "rxjs";
import { agUiNames } from "../events.ts";
import { plainText } from "../plain-text.ts";
import { MessageHistory } from "./message-history.ts";

/** What a run left behind: the messages and the state that its client has now. */
export interface RunOutcome {
  readonly messages: Message[];
  readonly state: unknown;
}

/**
 * Applies events to an input, as the client itself does, and by the client itself where it is state, or all messages at once.
 * It takes time linear in what happens to messages, which the client does not.
 */
export async function applyEvents(input: RunAgentInput, events: readonly BaseEvent[]): Promise<RunOutcome> {
  let history = new MessageHistory(structuredClone(input.messages));
  const ofState: BaseEvent[] = [];
  for (const event of events) {
    if (String(event.type).startsWith("STATE_")) ofState.push(event);
    else if (!history.apply(event)) {
      const { messages } = await applyByClient({ ...input, messages: history.messages() }, [event]);
      history = new MessageHistory(messages);
    }
  }
  const { state } = await applyByClient({ ...input, messages: [] }, ofState);
  return { messages: history.messages(), state };
}

async function applyByClient(input: RunAgentInput, events: readonly BaseEvent[]): Promise<RunOutcome> {
  const { messages } = input;
  // It reads the messages of the agent, and nothing else of it.
  const agent = { messages } as unknown as AbstractAgent;
  const mutations = await lastValueFrom(defaultApplyEvents(input, from([...events]), agent, []).pipe(toArray()));
  const last = <K extends "messages" | "state">(key: K) =>
    mutations.findLast((mutation) => mutation[key] !== undefined);
  return { messages: last("messages")?.messages ?? messages, state: last("state")?.state ?? input.state };
}

/** The answer to a call. */
export interface ToolAnswer {
  readonly toolCallId: string;
  readonly messageId: string;
  readonly content: string;
}

/** @param randomId makes its id unique: hosts use ids of calls in ids of messages themselves */
export function answerTo({ id }: { readonly id: string }, content: string, randomId: () => string): ToolAnswer {
  return { toolCallId: id, messageId: `${agUiNames.id}result-${randomId()}`, content: plainText(content) };
}

/** Puts answers where providers want them: directly behind the assistant's message, in the order of its calls. */
export function placeAnswers(messages: readonly Message[], answers: readonly ToolAnswer[]): Message[] {
  const left = new Map(answers.map((answer) => [answer.toolCallId, answer]));
  const placed: Message[] = [];
  let waiting: ToolAnswer[] = [];
  const flush = () => {
    for (const { toolCallId, messageId, content } of waiting)
      placed.push({ id: messageId, role: "tool", toolCallId, content } as Message);
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") flush();
    placed.push(message);
    if (message.role !== "assistant") continue;
    for (const { id } of message.toolCalls ?? []) {
      const answer = left.get(id);
      if (answer === undefined) continue;
      left.delete(id);
      waiting.push(answer);
    }
  }
  flush();
  return placed;
}

/** A call in a history that has no answer there. */
export interface HistoricCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

export function unansweredCalls(messages: readonly Message[]): HistoricCall[] {
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])));
  return messages
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .filter(({ id }) => !answered.has(id) && answered.add(id))
    .map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
}
