import type { AgUiEvent } from "../events.ts";
import type { ReadEvent } from "./event-fields.ts";

/** Texts, reasoning and steps that were begun and are to be ended. */
export interface OpenItems {
  /** A message is being written, so that a snapshot of all messages would lose it. */
  hasMessage(): boolean;
  isOpen(id: string): boolean;
  /** Takes an event of an item. Content of what is not open begins it; ends of it are left out. */
  accept(event: ReadEvent): void;
  /** Ends everything, in the order in which clients want it. */
  closeAll(write: (event: AgUiEvent) => void): void;
}

/** @param write Says whether it went out. */
export function createOpenItems(write: (event: AgUiEvent) => boolean, onFault: (fault: string) => void): OpenItems {
  const texts = new Set<string>();
  const thoughts = new Set<string>();
  const spans = new Set<string>();
  const steps = new Set<string>();

  const pass = (event: object) => write(event as AgUiEvent);

  function begin(open: Set<string>, id: string, event: object): void {
    if (open.has(id)) onFault(`${(event as ReadEvent).type}: ${id} is open already`);
    // The client knows nothing of what was left out.
    else if (pass(event)) open.add(id);
  }

  /** What cannot be ended now is ended with the run. */
  function end(open: Set<string>, id: string, event: ReadEvent): void {
    if (!open.has(id)) onFault(`${event.type}: ${id} is not open`);
    else if (pass(event)) open.delete(id);
  }

  return {
    hasMessage: () => texts.size > 0 || thoughts.size > 0,
    isOpen: (id) => texts.has(id) || thoughts.has(id),
    accept(event) {
      const id = String(event["messageId"] ?? event["stepName"]);
      switch (event.type) {
        case "TEXT_MESSAGE_START":
          return begin(texts, id, { ...event, role: event["role"] ?? "assistant" });
        case "TEXT_MESSAGE_CONTENT":
          if (!texts.has(id)) begin(texts, id, { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" });
          return void pass(event);
        case "REASONING_MESSAGE_START":
          return begin(thoughts, id, { ...event, role: "reasoning" });
        case "REASONING_MESSAGE_CONTENT":
          if (!thoughts.has(id))
            begin(thoughts, id, { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" });
          return void pass(event);
        case "REASONING_START":
          return begin(spans, id, event);
        case "STEP_STARTED":
          return begin(steps, id, event);
        case "TEXT_MESSAGE_END":
          return end(texts, id, event);
        case "REASONING_MESSAGE_END":
          return end(thoughts, id, event);
        case "REASONING_END":
          return end(spans, id, event);
        case "STEP_FINISHED":
          return end(steps, id, event);
      }
    },
    closeAll(last) {
      for (const messageId of thoughts) last({ type: "REASONING_MESSAGE_END", messageId });
      for (const messageId of spans) last({ type: "REASONING_END", messageId });
      for (const messageId of texts) last({ type: "TEXT_MESSAGE_END", messageId });
      for (const stepName of [...steps].reverse()) last({ type: "STEP_FINISHED", stepName });
      for (const open of [thoughts, spans, texts, steps]) open.clear();
    },
  };
}
