import { toIdentifier } from "../identifier.ts";
import type { LooseEvent } from "./event-fields.ts";

/** Where a mapper is in its run. Small, so that it fits into a cursor. */
export interface TurnPosition {
  /** The message that was begun and not ended. */
  readonly open?: string | undefined;
  /** Something of it was shown, in this stream or an earlier page. */
  readonly isShown: boolean;
  /** Messages and thoughts that got an id of ours. */
  readonly messages: number;
  readonly thoughts: number;
}

/** Steps, messages and thoughts of a run. A step or message of which nothing is to be seen does not appear. */
export interface TurnMapper {
  readonly position: TurnPosition;
  start(turn: number): LooseEvent[];
  finish(): LooseEvent[];
  /** What has to be out before something of the turn can be. */
  beforeContent(): LooseEvent[];
  startMessage(id: string | undefined): LooseEvent[];
  text(delta: string): LooseEvent[];
  /** @param whole of which deltas may have been seen */
  finishMessage(whole: string): LooseEvent[];
  think(thought: { readonly text?: unknown; readonly encryptedValue?: unknown }): LooseEvent[];
}

export function createTurnMapper(
  runId: string,
  { open, isShown, messages, thoughts }: TurnPosition = { isShown: false, messages: 0, thoughts: 0 },
): TurnMapper {
  const prefix = toIdentifier(runId).slice(0, 100);
  /** A turn that began, and has shown nothing yet. */
  let pending: string | undefined;
  let step: string | undefined;
  /** The message that is open in this stream: the client knows it. */
  let hasText = false;
  let thought: string | undefined;

  const nextMessage = () => `${prefix}:message-${++messages}`;

  function beforeContent(): LooseEvent[] {
    if (pending === undefined) return [];
    step = pending;
    pending = undefined;
    return [{ type: "STEP_STARTED", stepName: step }];
  }

  function finish(): LooseEvent[] {
    const events = endMessage();
    if (step !== undefined) events.push({ type: "STEP_FINISHED", stepName: step });
    step = undefined;
    pending = undefined;
    return events;
  }

  function text(delta: string): LooseEvent[] {
    if (delta === "") return [];
    const events = [...beforeContent(), ...endThought()];
    open ??= nextMessage();
    if (!hasText) events.push({ type: "TEXT_MESSAGE_START", messageId: open, role: "assistant" });
    hasText = true;
    isShown = true;
    events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: open, delta });
    return events;
  }

  function endThought(): LooseEvent[] {
    const messageId = thought;
    thought = undefined;
    if (messageId === undefined) return [];
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  function endMessage(): LooseEvent[] {
    const events = endThought();
    if (open !== undefined && hasText) events.push({ type: "TEXT_MESSAGE_END", messageId: open });
    open = undefined;
    hasText = false;
    isShown = false;
    return events;
  }

  return {
    get position() {
      return { messages, thoughts, isShown, ...(open === undefined ? {} : { open }) };
    },
    start(turn) {
      const events = finish();
      pending = `turn:${turn}`;
      return events;
    },
    finish,
    beforeContent,
    startMessage(id) {
      const events = endMessage();
      open = id === undefined || id === "" ? nextMessage() : toIdentifier(id);
      return events;
    },
    text,
    finishMessage: (whole) => [...(isShown ? [] : text(whole)), ...endMessage()],
    think({ text: delta, encryptedValue }) {
      const hasDelta = typeof delta === "string" && delta !== "";
      const hasValue = typeof encryptedValue === "string" && encryptedValue !== "";
      if (!hasDelta && !hasValue) return [];
      const events = beforeContent();
      if (thought === undefined) {
        thought = `${prefix}:reasoning-${++thoughts}`;
        events.push({ type: "REASONING_START", messageId: thought });
        events.push({ type: "REASONING_MESSAGE_START", messageId: thought });
      }
      if (hasDelta) events.push({ type: "REASONING_MESSAGE_CONTENT", messageId: thought, delta });
      if (hasValue)
        events.push({ type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: thought, encryptedValue });
      return events;
    },
  };
}
