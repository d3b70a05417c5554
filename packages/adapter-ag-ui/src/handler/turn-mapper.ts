import { toIdentifier } from "../identifier.ts";
import type { LooseEvent } from "./event-fields.ts";

/** Where a mapper is in its run. Small, so that it fits into a cursor. */
export interface TurnPosition {
  /** The message that was begun and not ended. */
  readonly open?: string | undefined;
  /** Something of it was shown. */
  readonly isShown: boolean;
  /** Messages and thoughts that got an id of ours. */
  readonly messages: number;
  readonly thoughts: number;
}

/** Steps, messages and thoughts of a run. A step or message of which nothing is to be seen does not appear. */
export class TurnMapper {
  readonly #runId: string;
  /** A turn that began, and has shown nothing yet. */
  #pending: string | undefined;
  #step: string | undefined;
  #message: string | undefined;
  #hasText = false;
  /** Text of the message was seen, in this stream or an earlier page. */
  #hadText = false;
  #thought: string | undefined;
  #messages: number;
  #thoughts: number;

  constructor(
    runId: string,
    { open, isShown, messages, thoughts }: TurnPosition = { isShown: false, messages: 0, thoughts: 0 },
  ) {
    this.#runId = toIdentifier(runId).slice(0, 100);
    this.#message = open;
    this.#hadText = isShown;
    this.#messages = messages;
    this.#thoughts = thoughts;
  }

  get position(): TurnPosition {
    const open = this.#message;
    const counts = { messages: this.#messages, thoughts: this.#thoughts };
    return { ...counts, isShown: this.#hadText, ...(open === undefined ? {} : { open }) };
  }

  start(turn: number): LooseEvent[] {
    const end = this.finish();
    this.#pending = `turn:${turn}`;
    return end;
  }

  finish(): LooseEvent[] {
    const events = this.#endMessage();
    if (this.#step !== undefined) events.push({ type: "STEP_FINISHED", stepName: this.#step });
    this.#step = undefined;
    this.#pending = undefined;
    return events;
  }

  /** The run waits: the turn that was announced last never came. */
  suspend(): LooseEvent[] {
    return this.finish();
  }

  /** What has to be out before something of the turn can be. */
  beforeContent(): LooseEvent[] {
    if (this.#pending === undefined) return [];
    this.#step = this.#pending;
    this.#pending = undefined;
    return [{ type: "STEP_STARTED", stepName: this.#step }];
  }

  startMessage(id: string | undefined): LooseEvent[] {
    const end = this.#endMessage();
    this.#message = id === undefined || id === "" ? this.#nextMessage() : toIdentifier(id);
    return end;
  }

  text(delta: string): LooseEvent[] {
    if (delta === "") return [];
    const events = [...this.beforeContent(), ...this.#endThought()];
    this.#message ??= this.#nextMessage();
    if (!this.#hasText) events.push({ type: "TEXT_MESSAGE_START", messageId: this.#message, role: "assistant" });
    this.#hasText = true;
    this.#hadText = true;
    events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: this.#message, delta });
    return events;
  }

  /** @param text the whole, of which deltas may have been seen */
  finishMessage(text: string): LooseEvent[] {
    const events = this.#hadText ? [] : this.text(text);
    return [...events, ...this.#endMessage()];
  }

  think(text: string | undefined, encryptedValue: string | undefined): LooseEvent[] {
    if (!text && !encryptedValue) return [];
    const events = this.beforeContent();
    if (this.#thought === undefined) {
      this.#thoughts++;
      this.#thought = `${this.#runId}:reasoning-${this.#thoughts}`;
      events.push({ type: "REASONING_START", messageId: this.#thought });
      events.push({ type: "REASONING_MESSAGE_START", messageId: this.#thought });
    }
    if (text) events.push({ type: "REASONING_MESSAGE_CONTENT", messageId: this.#thought, delta: text });
    if (encryptedValue)
      events.push({
        type: "REASONING_ENCRYPTED_VALUE",
        subtype: "message",
        entityId: this.#thought,
        encryptedValue,
      });
    return events;
  }

  #endThought(): LooseEvent[] {
    const messageId = this.#thought;
    this.#thought = undefined;
    if (messageId === undefined) return [];
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #endMessage(): LooseEvent[] {
    const events = this.#endThought();
    if (this.#message !== undefined && this.#hasText)
      events.push({ type: "TEXT_MESSAGE_END", messageId: this.#message });
    this.#message = undefined;
    this.#hasText = false;
    this.#hadText = false;
    return events;
  }

  #nextMessage(): string {
    this.#messages++;
    return `${this.#runId}:message-${this.#messages}`;
  }
}
