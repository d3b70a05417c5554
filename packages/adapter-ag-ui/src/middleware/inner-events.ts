import type { BaseEvent } from "@ag-ui/client";

/** A call of a tool as its events told it. */
export interface StreamedCall {
  readonly id: string;
  name: string;
  /** The arguments as they came; `undefined` when they were over the bound. */
  args: string | undefined;
  ended: boolean;
  answered: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** What begins and ends, and by which member it is known. */
const spans = [
  { start: "TEXT_MESSAGE_START", end: "TEXT_MESSAGE_END", key: "messageId" },
  { start: "TOOL_CALL_START", end: "TOOL_CALL_END", key: "toolCallId" },
  { start: "REASONING_MESSAGE_START", end: "REASONING_MESSAGE_END", key: "messageId" },
  { start: "REASONING_START", end: "REASONING_END", key: "messageId" },
  { start: "STEP_STARTED", end: "STEP_FINISHED", key: "stepName" },
] as const;

/** Events that a history is made of. */
const historic = /^(TEXT_MESSAGE_|TOOL_CALL_|REASONING_|MESSAGES_SNAPSHOT$|STATE_SNAPSHOT$|STATE_DELTA$)/;

const MAX_ARGS_CHARACTERS = 262_144;

/**
 * Follows the events of one inner run: which calls were streamed in it (what a snapshot of messages holds is history and is
 * never called again), what is open, and what the history needs.
 */
export class InnerEvents {
  readonly #calls = new Map<string, StreamedCall>();
  readonly #open = new Map<string, { type: string; key: string; id: string }>();
  readonly #history: BaseEvent[] = [];

  add(event: BaseEvent): void {
    const fields = event as unknown as Fields;
    const type = String(event.type);
    if (historic.test(type)) this.#remember(event);
    for (const { start, end, key } of spans) {
      const id = String(fields[key]);
      if (type === start) this.#open.set(`${end} ${id}`, { type: end, key, id });
      else if (type === end) this.#open.delete(`${end} ${id}`);
    }
    if (!type.startsWith("TOOL_CALL_")) return;
    const id = String(fields["toolCallId"]);
    const call = this.#calls.get(id);
    switch (type) {
      case "TOOL_CALL_START":
        // One that begins again is the same one, and what it says more is added: so clients take it.
        if (call === undefined)
          this.#calls.set(id, { id, name: String(fields["toolCallName"]), args: "", ended: false, answered: false });
        else call.name = String(fields["toolCallName"]);
        return;
      case "TOOL_CALL_ARGS":
        if (call?.args === undefined) return;
        call.args += String(fields["delta"]);
        if (call.args.length > MAX_ARGS_CHARACTERS) call.args = undefined;
        return;
      case "TOOL_CALL_END":
        if (call !== undefined) call.ended = true;
        return;
      case "TOOL_CALL_RESULT":
        if (call !== undefined) call.answered = true;
        return;
    }
  }

  /** Calls that were made in whole and that nobody answered, in their order. */
  unanswered(): StreamedCall[] {
    return [...this.#calls.values()].filter(({ ended, answered }) => ended && !answered);
  }

  /** Calls began that did not end. */
  get hasOpenCall(): boolean {
    return [...this.#open.values()].some(({ type }) => type === "TOOL_CALL_END");
  }

  /** The events that end what is open, the last begun first. */
  closing(): BaseEvent[] {
    const events = [...this.#open.values()].reverse().map(({ type, key, id }) => ({ type, [key]: id }));
    this.#open.clear();
    return events as unknown as BaseEvent[];
  }

  /** Events to apply to the messages of the run's input. */
  get history(): readonly BaseEvent[] {
    return this.#history;
  }

  /** Deltas of one item in a row are one: applying an event costs a copy of all messages. */
  #remember(event: BaseEvent): void {
    const fields = event as unknown as Fields;
    const last = this.#history.at(-1) as (Fields & BaseEvent) | undefined;
    const isDelta = typeof fields["delta"] === "string";
    const sameItem =
      last?.type === event.type &&
      last["messageId"] === fields["messageId"] &&
      last["toolCallId"] === fields["toolCallId"];
    if (!isDelta || !sameItem) {
      this.#history.push({ ...event });
      return;
    }
    (last as unknown as { delta: string }).delta += String(fields["delta"]);
  }
}
