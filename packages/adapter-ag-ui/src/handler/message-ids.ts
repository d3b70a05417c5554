import type { AgUiMessage } from "../events.ts";

/** What an id stands for on a thread. Clients keep one list, so an id that stands for two things spoils both. */
type MessageFamily = "assistant" | "reasoning" | "activity" | "tool" | "user";

/** Which ids a run met, in its input and in its events. */
export interface MessageIds {
  learn(messages: readonly AgUiMessage[]): void;
  /** Whether the id can stand for this; from then on it does. */
  claim(id: string, family: MessageFamily): boolean;
  familyOf(id: string): MessageFamily | undefined;
  /** Calls of the history, and of this run. */
  readonly calls: Set<string>;
  /** Those of them that have an answer. */
  readonly answered: Set<string>;
}

export function createMessageIds(history: readonly AgUiMessage[]): MessageIds {
  const families = new Map<string, MessageFamily>();
  const calls = new Set<string>();
  const answered = new Set<string>();

  function learn(messages: readonly AgUiMessage[]): void {
    for (const message of messages) {
      const { role } = message;
      families.set(message.id, role === "developer" || role === "system" ? "user" : role);
      if (role === "assistant") for (const { id } of message.toolCalls ?? []) calls.add(id);
      if (role === "tool") answered.add(message.toolCallId);
    }
  }

  learn(history);
  return {
    learn,
    calls,
    answered,
    familyOf: (id) => families.get(id),
    claim(id, family) {
      const known = families.get(id) ?? family;
      families.set(id, known);
      return known === family;
    },
  };
}
