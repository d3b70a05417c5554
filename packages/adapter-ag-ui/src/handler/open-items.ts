import type { AgUiEvent } from "../events.ts";
import type { ReadEvent } from "./event-fields.ts";

/** @returns whether it went out */
type Write = (event: AgUiEvent) => boolean;

/** Texts, reasoning and steps that were begun and are to be ended. */
export class OpenItems {
  readonly #write: Write;
  readonly #onFault: (fault: string) => void;
  readonly #texts = new Set<string>();
  readonly #thoughts = new Set<string>();
  readonly #spans = new Set<string>();
  readonly #steps = new Set<string>();

  constructor(write: Write, onFault: (fault: string) => void) {
    this.#write = write;
    this.#onFault = onFault;
  }

  /** A message is being written, so that a snapshot of all messages would lose it. */
  get hasMessage(): boolean {
    return this.#texts.size > 0 || this.#thoughts.size > 0;
  }

  isOpen(id: string): boolean {
    return this.#texts.has(id) || this.#thoughts.has(id);
  }

  /** Takes an event of an item. Content of what is not open begins it; ends of it are left out. */
  accept(event: ReadEvent): void {
    const id = String(event["messageId"] ?? event["stepName"]);
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        this.#begin(this.#texts, id, { ...event, role: event["role"] ?? "assistant" });
        break;
      case "TEXT_MESSAGE_CONTENT":
        if (!this.#texts.has(id)) this.#begin(this.#texts, id, textStart(id));
        this.#pass(event);
        break;
      case "REASONING_MESSAGE_START":
        this.#begin(this.#thoughts, id, { ...event, role: "reasoning" });
        break;
      case "REASONING_MESSAGE_CONTENT":
        if (!this.#thoughts.has(id)) this.#begin(this.#thoughts, id, thoughtStart(id));
        this.#pass(event);
        break;
      case "REASONING_START":
        this.#begin(this.#spans, id, event);
        break;
      case "STEP_STARTED":
        this.#begin(this.#steps, id, event);
        break;
      case "TEXT_MESSAGE_END":
        this.#end(this.#texts, id, event);
        break;
      case "REASONING_MESSAGE_END":
        this.#end(this.#thoughts, id, event);
        break;
      case "REASONING_END":
        this.#end(this.#spans, id, event);
        break;
      case "STEP_FINISHED":
        this.#end(this.#steps, id, event);
        break;
    }
  }

  /** Ends everything, in the order in which clients want it. */
  closeAll(write: (event: AgUiEvent) => void): void {
    for (const messageId of this.#thoughts) write({ type: "REASONING_MESSAGE_END", messageId });
    for (const messageId of this.#spans) write({ type: "REASONING_END", messageId });
    for (const messageId of this.#texts) write({ type: "TEXT_MESSAGE_END", messageId });
    for (const stepName of [...this.#steps].reverse()) write({ type: "STEP_FINISHED", stepName });
    for (const open of [this.#thoughts, this.#spans, this.#texts, this.#steps]) open.clear();
  }

  #begin(open: Set<string>, id: string, event: object): void {
    if (open.has(id)) {
      this.#onFault(`${(event as ReadEvent).type}: ${id} is open already`);
      return;
    }
    // The client knows nothing of what was left out.
    if (this.#pass(event)) open.add(id);
  }

  /** What cannot be ended now is ended with the run. */
  #end(open: Set<string>, id: string, event: ReadEvent): void {
    if (!open.has(id)) this.#onFault(`${event.type}: ${id} is not open`);
    else if (this.#pass(event)) open.delete(id);
  }

  #pass(event: object): boolean {
    return this.#write(event as AgUiEvent);
  }
}

function textStart(messageId: string): AgUiEvent {
  return { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
}

function thoughtStart(messageId: string): AgUiEvent {
  return { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" };
}
