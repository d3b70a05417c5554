import { isObjectText, textOf } from "../bounded-json.ts";
import type { AgUiEvent, AgUiEventOf } from "../events.ts";
import { toIdentifier } from "../identifier.ts";
import type { ReadEvent } from "./event-fields.ts";
import type { MessageIds } from "./message-ids.ts";

/** A call from its start to its end. */
type WholeCall = readonly [AgUiEvent, AgUiEventOf<"TOOL_CALL_ARGS">, AgUiEvent];

export interface HeldCallsParts {
  readonly ids: MessageIds;
  /** Tools that the client runs: a call of one with arguments that mean nothing must not reach it. */
  readonly clientTools: ReadonlySet<string>;
  /** A call of an earlier run may be answered, though the input does not name it. */
  readonly goesOn: boolean;
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
export interface HeldCalls {
  accept(event: ReadEvent): void;
  /** Lets go of what is whole, and forgets the rest. */
  settle(): void;
  /** Forgets all: nobody is to act on them any more. */
  drop(): void;
}

export function createHeldCalls({
  ids,
  clientTools,
  goesOn,
  maxHeldBytes,
  write,
  writeCall,
  onFault,
  onBroken,
}: HeldCallsParts): HeldCalls {
  const held = new Map<string, { readonly start: ReadEvent; args: string }>();
  let heldLength = 0;

  function append(id: string, delta: string): void {
    const call = held.get(id);
    if (call === undefined) {
      onFault(`TOOL_CALL_ARGS: ${id} is not open`);
      return;
    }
    call.args += delta;
    heldLength += delta.length;
    if (heldLength > maxHeldBytes) onBroken("arguments exceed maxStreamBytes");
  }

  /** @returns whether there was such a call */
  function release(id: string): boolean {
    const call = held.get(id);
    if (call === undefined) return false;
    held.delete(id);
    heldLength -= call.args.length;
    const { start } = call;
    let args = call.args === "" ? "{}" : call.args;
    if (!isObjectText(args)) {
      const fault = `the arguments of ${id} are no JSON object`;
      if (clientTools.has(String(start["toolCallName"]))) {
        onBroken(fault);
        return true;
      }
      onFault(fault);
      args = "{}";
    }
    const { parentMessageId: parent, ...orphan } = start;
    // Clients warn of a parent that is no message of an assistant.
    const isChild = parent !== undefined && (ids.familyOf(String(parent)) ?? "assistant") === "assistant";
    const isOut = writeCall([
      (isChild ? start : orphan) as unknown as AgUiEvent,
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: args },
      { type: "TOOL_CALL_END", toolCallId: id },
    ]);
    if (isOut) {
      ids.calls.add(id);
      ids.claim(isChild ? String(parent) : id, "assistant");
    }
    return true;
  }

  function answer(id: string, event: ReadEvent): void {
    release(id);
    if (!ids.calls.has(id) && !goesOn) {
      onFault(`TOOL_CALL_RESULT: there is no call ${id}`);
      return;
    }
    if (ids.answered.has(id)) {
      onFault(`TOOL_CALL_RESULT: ${id} was answered already`);
      return;
    }
    let messageId = String(event["messageId"] ?? toIdentifier(`${id}:result`));
    for (let n = 1; ids.familyOf(messageId) !== undefined; n++)
      messageId = toIdentifier(`${id}:result${n > 1 ? n : ""}`);
    ids.claim(messageId, "tool");
    ids.answered.add(id);
    const content = textOf(event["content"]) ?? jsonText(event["content"]);
    write({ ...event, messageId, content, role: "tool" } as unknown as AgUiEvent);
  }

  return {
    accept(event) {
      const id = String(event["toolCallId"]);
      switch (event.type) {
        case "TOOL_CALL_START":
          if (held.has(id) || ids.calls.has(id)) onFault(`TOOL_CALL_START: there was a call ${id} already`);
          else held.set(id, { start: event, args: "" });
          return;
        case "TOOL_CALL_ARGS":
          return append(id, String(event["delta"]));
        case "TOOL_CALL_END":
          if (!release(id)) onFault(`TOOL_CALL_END: ${id} is not open`);
          return;
        case "TOOL_CALL_RESULT":
          return answer(id, event);
      }
    },
    settle() {
      for (const [id, { args }] of held) {
        if (isObjectText(args)) release(id);
        else onFault(`the call ${id} never ended and is left out`);
      }
      held.clear();
    },
    drop: () => held.clear(),
  };
}

function jsonText(content: unknown): string {
  try {
    return JSON.stringify(content) ?? "";
  } catch {
    return ""; // in a circle, or of no JSON: the call was answered all the same
  }
}
