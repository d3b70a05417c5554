import { createParser } from "eventsource-parser";
import { createLineSplitter } from "./line-splitter.ts";

export interface StreamEvent {
  /** `""` where the stream named none. */
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
  /** Why `data` is not what was sent. */
  readonly damage: "too large" | "not UTF-8" | undefined;
}

export interface EventParserOptions {
  /** Bytes of data one event may have. A larger one is cut and marked. */
  maxDataBytes: number;
  onEvent: (event: StreamEvent) => void;
  onRetry: (ms: number) => void;
}

export interface EventParser {
  feed(chunk: Uint8Array): void;
}

/** What is kept of an event that is too large: enough to see which request it answers. */
const HEAD_BYTES = 1_024;
/** Fields other than data, and comments, beyond this are nothing a relay sends. */
const MAX_FIELD_BYTES = 4_096;
const DATA = new TextEncoder().encode("data");
const COLON = 58;

/**
 * Reads an event stream of any chunking. The fields are eventsource-parser's work. It gets whole lines, as text that
 * was checked: left alone with a stream it would end at the first event that is too large, and with a decoder before
 * it at the first byte that is not UTF-8. Here such an event is marked, and the next one is read as ever.
 */
export function createEventParser({ maxDataBytes, onEvent, onRetry }: EventParserOptions): EventParser {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
  let isFirst = true;
  let dataBytes = 0;
  let damage: StreamEvent["damage"];
  const parser = createParser({
    onEvent({ id, event: name = "", data }) {
      onEvent({ name, id, data, damage });
    },
    onRetry,
  });

  function textOf(line: Uint8Array): string {
    try {
      return strict.decode(line);
    } catch {
      damage ??= "not UTF-8";
      return lenient.decode(line);
    }
  }

  /** What of a line the parser may see, if anything. */
  function admit(line: Uint8Array): Uint8Array | undefined {
    if (!isData(line)) return line.length <= MAX_FIELD_BYTES ? line : undefined;
    if (damage === "too large") return undefined;
    const before = dataBytes;
    dataBytes += line.length - DATA.length;
    if (dataBytes <= maxDataBytes + MAX_FIELD_BYTES / 2) return line;
    damage = "too large";
    return before === 0 ? line.subarray(0, HEAD_BYTES) : undefined;
  }

  return createLineSplitter({
    maxBytes: maxDataBytes + MAX_FIELD_BYTES,
    onLine(line) {
      const admitted = admit(isFirst ? withoutBom(line) : line);
      isFirst = false;
      if (admitted !== undefined) parser.feed(`${textOf(admitted)}\n`);
      if (line.length > 0) return;
      dataBytes = 0;
      damage = undefined;
    },
  });
}

function isData(line: Uint8Array): boolean {
  for (let index = 0; index < DATA.length; index++) if (line[index] !== DATA[index]) return false;
  return line.length === DATA.length || line[DATA.length] === COLON;
}

function withoutBom(line: Uint8Array): Uint8Array {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}
