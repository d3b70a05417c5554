import { isObjectText, textOf } from "../bounded-json.ts";
import type { AgUiEvent, AgUiEventOf } from "../events.ts";
import { toIdentifier } from "../identifier.ts";
import type { ReadEvent } from "./event-fields.ts";
import type { MessageIds } from "./message-ids.ts";

/** A call from its start to its end. */
export type WholeCall = readonly [AgUiEvent, AgUiEventOf<"TOOL_CALL_ARGS">, AgUiEvent];

export interface HeldCallsParts {
  readonly ids: MessageIds;
  /** Tools that the client runs: a call of one with arguments that mean nothing must not reach it. */
  readonly clientTools: ReadonlySet<string>;
  /** A call of an earlier run may be answered, though the input does not name it. */
  readonly answersEarlier: boolean;
  readonly maxHeldBytes: number;
  readonly write: (event: AgUiEvent) => boolean;
  /** Writes a call in whole, or not at all. @returns whether it went out */
  readonly writeCall: (call: WholeCall) => boolean;
  readonly onFault: (fault: string) => void;
  /** The run cannot go on. */
  readonly onBroken: (fault: string) => void;
}

/**
 * Calls until their arguments are whole: a run that breaks off in the middle leaves no half call behind, and no client reads
 * arguments that are no JSON.
 */
export class HeldCalls {
  readonly #parts: HeldCallsParts;
  readonly #held = new Map<string, { readonly start: ReadEvent; args: string }>();
  #heldLength = 0;

  constructor(parts: HeldCallsParts) {
    this.#parts = parts;
  }

  accept(event: ReadEvent): void {
    const id = String(event["toolCallId"]);
    switch (event.type) {
      case "TOOL_CALL_START":
        this.#start(id, event);
        return;
      case "TOOL_CALL_ARGS":
        this.#append(id, String(event["delta"]));
        return;
      case "TOOL_CALL_END":
        if (!this.#held.has(id)) {
          this.#parts.onFault(`TOOL_CALL_END: ${id} is not open`);
          return;
        }
        this.#release(id);
        return;
      case "TOOL_CALL_RESULT":
        this.#answer(id, event);
        return;
    }
  }

  isHeld(id: string): boolean {
    return this.#held.has(id);
  }

  /** Lets go of what is whole, and forgets the rest. */
  settle(): void {
    for (const [id, { args }] of this.#held) {
      if (isObjectText(args)) this.#release(id);
      else this.#parts.onFault(`the call ${id} never ended and is left out`);
    }
    this.#held.clear();
  }

  /** Forgets all: nobody is to act on them any more. */
  drop(): void {
    this.#held.clear();
  }

  #start(id: string, event: ReadEvent): void {
    const { ids, onFault } = this.#parts;
    if (this.#held.has(id) || ids.hasCall(id)) {
      onFault(`TOOL_CALL_START: there was a call ${id} already`);
      return;
    }
    this.#held.set(id, { start: event, args: "" });
  }

  #append(id: string, delta: string): void {
    const held = this.#held.get(id);
    if (held === undefined) {
      this.#parts.onFault(`TOOL_CALL_ARGS: ${id} is not open`);
      return;
    }
    held.args += delta;
    this.#heldLength += delta.length;
    if (this.#heldLength > this.#parts.maxHeldBytes) this.#parts.onBroken("arguments exceed maxStreamBytes");
  }

  #release(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    this.#heldLength -= held.args.length;
    const { ids, clientTools, writeCall, onFault, onBroken } = this.#parts;
    const { start } = held;
    let args = held.args === "" ? "{}" : held.args;
    if (!isObjectText(args)) {
      const fault = `the arguments of ${id} are no JSON object`;
      if (clientTools.has(String(start["toolCallName"]))) {
        onBroken(fault);
        return;
      }
      onFault(fault);
      args = "{}";
    }
    const parent = start["parentMessageId"];
    const family = parent === undefined ? undefined : ids.familyOf(String(parent));
    const { parentMessageId: _, ...orphan } = start;
    // Clients warn of a parent that is no message of an assistant.
    const isChild = parent !== undefined && (family === undefined || family === "assistant");
    const begin = (isChild ? start : orphan) as unknown as AgUiEvent;
    const isOut = writeCall([
      begin,
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: args },
      { type: "TOOL_CALL_END", toolCallId: id },
    ]);
    if (!isOut) return;
    ids.addCall(id);
    ids.claim(isChild ? String(parent) : id, "assistant");
  }

  #answer(id: string, event: ReadEvent): void {
    const { ids, answersEarlier, write, onFault } = this.#parts;
    if (this.#held.has(id)) this.#release(id);
    if (!ids.hasCall(id) && !answersEarlier) {
      onFault(`TOOL_CALL_RESULT: there is no call ${id}`);
      return;
    }
    if (ids.isAnswered(id)) {
      onFault(`TOOL_CALL_RESULT: ${id} was answered already`);
      return;
    }
    let messageId = String(event["messageId"] ?? toIdentifier(`${id}:result`));
    for (let n = 1; ids.familyOf(messageId) !== undefined; n++)
      messageId = toIdentifier(`${id}:result${n > 1 ? n : ""}`);
    ids.claim(messageId, "tool");
    ids.addAnswer(id);
    const content = textOf(event["content"]) ?? jsonText(event["content"]);
    write({ ...event, messageId, content, role: "tool" } as unknown as AgUiEvent);
  }
}

function jsonText(content: unknown): string {
  try {
    return JSON.stringify(content) ?? "";
  } catch {
    return ""; // in a circle, or of no JSON: the call was answered all the same
  }
}
