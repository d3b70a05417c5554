import type { ReadEvent } from "./event-fields.ts";

const kinds = {
  TEXT_MESSAGE_CHUNK: {
    id: "messageId",
    start: "TEXT_MESSAGE_START",
    go: "TEXT_MESSAGE_CONTENT",
    end: "TEXT_MESSAGE_END",
  },
  TOOL_CALL_CHUNK: { id: "toolCallId", start: "TOOL_CALL_START", go: "TOOL_CALL_ARGS", end: "TOOL_CALL_END" },
  REASONING_MESSAGE_CHUNK: {
    id: "messageId",
    start: "REASONING_MESSAGE_START",
    go: "REASONING_MESSAGE_CONTENT",
    end: "REASONING_MESSAGE_END",
  },
} as const;

type ChunkType = keyof typeof kinds;

/** What may come between the chunks of one message without ending it: here, as chunks never leave, all that stands by itself. */
const beside = /^(?:ACTIVITY|STATE|MESSAGES|RAW|CUSTOM)/;

/** Turns chunks into what begins, goes on and ends: clients of every version close a chunk for other reasons. */
export class ChunkExpander {
  readonly #pass: (event: ReadEvent) => void;
  readonly #onFault: (fault: string) => void;
  #open: { readonly type: ChunkType; readonly id: string } | undefined;

  constructor(pass: (event: ReadEvent) => void, onFault: (fault: string) => void) {
    this.#pass = pass;
    this.#onFault = onFault;
  }

  accept(event: ReadEvent): void {
    if (isChunk(event.type)) {
      this.#chunk(event.type, event);
      return;
    }
    if (!beside.test(event.type)) this.#end();
    this.#pass(event);
  }

  #chunk(type: ChunkType, { type: _, delta, ...event }: ReadEvent): void {
    const { id: key, start, go } = kinds[type];
    const id = (event[key] as string | undefined) ?? (this.#open?.type === type ? this.#open.id : undefined);
    if (id === undefined) {
      this.#onFault(`${type}: the first chunk has no ${key}`);
      return;
    }
    if (this.#open?.type !== type || this.#open.id !== id) {
      this.#end();
      if (type === "TOOL_CALL_CHUNK" && event["toolCallName"] === undefined) {
        this.#onFault(`${type}: the first chunk has no toolCallName`);
        return;
      }
      this.#open = { type, id };
      this.#pass({ ...event, type: start });
    }
    if (typeof delta === "string") this.#pass({ type: go, [key]: id, delta });
  }

  #end(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { id, end } = kinds[open.type];
    this.#pass({ type: end, [id]: open.id });
  }
}

function isChunk(type: string): type is ChunkType {
  return Object.hasOwn(kinds, type);
}
