import { byteLength, prefixLength, truncate } from "../bounded-json.ts";
import type { AgUiEvent } from "../events.ts";
import type { Limits } from "./limits.ts";

export interface WriterParts {
  readonly limits: Limits;
  /** Takes an event of which all is in order, and its text. @returns how many bytes go over the wire */
  readonly send: (event: AgUiEvent, text: string) => number;
  readonly onFault: (fault: string) => void;
}

/** Texts that go on in the next event, so what is too long for one is split. */
type Delta = Extract<AgUiEvent, { delta: string }>;

/** Makes every event fit, and counts what went out. */
export class EventWriter {
  readonly #parts: WriterParts;
  #events = 0;
  #bytes = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Nothing more fits, besides what ends the run. */
  get isFull(): boolean {
    return !this.hasRoomFor(0);
  }

  /** @param bytes of texts, before what the wire adds to them */
  hasRoomFor(bytes: number): boolean {
    const { maxStreamEvents, maxStreamBytes } = this.#parts.limits;
    return this.#events < maxStreamEvents && this.#bytes + bytes < maxStreamBytes;
  }

  /** @returns whether it went out */
  write(event: AgUiEvent, { isWhole = false }: { readonly isWhole?: boolean } = {}): boolean {
    const { maxEventBytes, maxTextBytes } = this.#parts.limits;
    if ("delta" in event && typeof event.delta === "string") {
      const short = event.delta.length * 6 + 1_024 <= maxEventBytes && event.delta.length * 3 <= maxTextBytes;
      if (!short) return this.#split(event as Delta, isWhole);
    }
    if (event.type === "TOOL_CALL_RESULT") return this.#send(this.#shortened(event, "content", maxTextBytes));
    const text = JSON.stringify(event);
    if (byteLength(text) <= maxEventBytes) return this.#send(event, text);
    this.#parts.onFault(`${event.type} exceeds maxEventBytes and is left out`);
    return false;
  }

  /** What means nothing in part: if the first goes out, so do the others. @returns whether they went out */
  writeAll([first, ...others]: readonly [AgUiEvent, ...AgUiEvent[]]): boolean {
    if (!this.write(first)) return false;
    for (const event of others) this.write(event, { isWhole: true });
    return true;
  }

  /** Ends the run: whatever was counted, this goes out. */
  end(event: AgUiEvent): void {
    this.#send(event);
  }

  #send(event: AgUiEvent, text: string = JSON.stringify(event)): true {
    this.#events++;
    this.#bytes += this.#parts.send(event, text);
    return true;
  }

  #split(event: Delta, isWhole: boolean): boolean {
    const { maxEventBytes, maxTextBytes } = this.#parts.limits;
    const room = maxEventBytes - byteLength(JSON.stringify({ ...event, delta: "" }));
    let rest = event.delta;
    do {
      let size = Math.min(maxTextBytes, room);
      let piece = rest.slice(0, prefixLength(rest, size));
      // Quotes, control characters and half characters take more room on the wire.
      while (byteLength(JSON.stringify(piece)) - 2 > room) {
        size = Math.floor(size / 2);
        piece = rest.slice(0, prefixLength(rest, size));
      }
      if (piece.length === 0) return false;
      this.#send({ ...event, delta: piece });
      rest = rest.slice(piece.length);
    } while (rest.length > 0 && (isWhole || !this.isFull));
    return true;
  }

  #shortened<E extends AgUiEvent & { content: string }>(event: E, _name: "content", maxBytes: number): E {
    let content = truncate(event.content, maxBytes);
    const room = this.#parts.limits.maxEventBytes - byteLength(JSON.stringify({ ...event, content: "" }));
    for (let size = maxBytes; byteLength(JSON.stringify(content)) - 2 > room; size = Math.floor(size / 2))
      content = truncate(event.content, size);
    return content === event.content ? event : { ...event, content };
  }
}
