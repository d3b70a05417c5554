import { byteLength, prefixLength, truncate } from "../bounded-json.ts";
import type { AgUiEvent, AgUiEventOf } from "../events.ts";
import type { Limits } from "./limits.ts";

export interface EventWriterParts {
  readonly limits: Limits;
  /** Takes an event of which all is in order, and its text. @returns how many bytes go over the wire */
  readonly send: (event: AgUiEvent, text: string) => number;
  readonly onFault: (fault: string) => void;
}

/** Makes every event fit, and counts what went out. */
export interface EventWriter {
  /** @param bytes of texts, before what the wire adds to them */
  hasRoomFor(bytes: number): boolean;
  /** @returns whether it went out */
  write(event: AgUiEvent): boolean;
  /** What means nothing in part: if the first goes out, so do the others. @returns whether they went out */
  writeAll(events: readonly [AgUiEvent, ...AgUiEvent[]]): boolean;
  /** Ends the run: whatever was counted, this goes out. */
  end(event: AgUiEvent): void;
}

/** Texts that go on in the next event, so what is too long for one is split. */
type Delta = Extract<AgUiEvent, { delta: string }>;

export function createEventWriter({
  limits: { maxEventBytes, maxTextBytes, maxStreamEvents, maxStreamBytes },
  send,
  onFault,
}: EventWriterParts): EventWriter {
  let sentEvents = 0;
  let sentBytes = 0;

  const hasRoomFor = (bytes: number) => sentEvents < maxStreamEvents && sentBytes + bytes < maxStreamBytes;

  function end(event: AgUiEvent, text: string = JSON.stringify(event)): true {
    sentEvents++;
    sentBytes += send(event, text);
    return true;
  }

  function write(event: AgUiEvent, isWhole = false): boolean {
    if ("delta" in event && typeof event.delta === "string") {
      const short = event.delta.length * 6 + 1_024 <= maxEventBytes && event.delta.length * 3 <= maxTextBytes;
      if (!short) return split(event as Delta, isWhole);
    }
    if (event.type === "TOOL_CALL_RESULT") return end(shortened(event));
    const text = JSON.stringify(event);
    if (byteLength(text) <= maxEventBytes) return end(event, text);
    onFault(`${event.type} exceeds maxEventBytes and is left out`);
    return false;
  }

  function split(event: Delta, isWhole: boolean): boolean {
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
      end({ ...event, delta: piece });
      rest = rest.slice(piece.length);
    } while (rest.length > 0 && (isWhole || hasRoomFor(0)));
    return true;
  }

  function shortened(event: AgUiEventOf<"TOOL_CALL_RESULT">): AgUiEvent {
    let content = truncate(event.content, maxTextBytes);
    const room = maxEventBytes - byteLength(JSON.stringify({ ...event, content: "" }));
    for (let size = maxTextBytes; byteLength(JSON.stringify(content)) - 2 > room; size = Math.floor(size / 2))
      content = truncate(event.content, size);
    return { ...event, content };
  }

  return {
    hasRoomFor,
    write: (event) => write(event),
    writeAll([first, ...others]) {
      if (!write(first)) return false;
      for (const event of others) write(event, true);
      return true;
    },
    end: (event) => void end(event),
  };
}
