import type { AgUiMessage } from "../events.ts";

/** What an id stands for on a thread. Clients keep one list, so an id that stands for two things spoils both. */
export type MessageFamily = "assistant" | "reasoning" | "activity" | "tool" | "user";

/** Which ids a run met, in its input and in its events. */
export class MessageIds {
  readonly #families = new Map<string, MessageFamily>();
  /** Calls of the history, and of this run. */
  readonly #calls = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(messages: readonly AgUiMessage[]) {
    this.learn(messages);
  }

  learn(messages: readonly AgUiMessage[]): void {
    for (const message of messages) {
      const { role } = message;
      this.#families.set(message.id, role === "developer" || role === "system" ? "user" : role);
      if (role === "assistant") for (const { id } of message.toolCalls ?? []) this.#calls.add(id);
      if (role === "tool") this.#answered.add(message.toolCallId);
    }
  }

  /** Whether the id can stand for this; from then on it does. */
  claim(id: string, family: MessageFamily): boolean {
    const known = this.#families.get(id);
    if (known !== undefined && known !== family) return false;
    this.#families.set(id, family);
    return true;
  }

  familyOf(id: string): MessageFamily | undefined {
    return this.#families.get(id);
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id);
  }

  addCall(id: string): void {
    this.#calls.add(id);
  }

  isAnswered(id: string): boolean {
    return this.#answered.has(id);
  }

  addAnswer(id: string): void {
    this.#answered.add(id);
  }
}
