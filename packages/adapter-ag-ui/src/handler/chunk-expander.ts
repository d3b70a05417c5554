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
export function createChunkExpander(
  pass: (event: ReadEvent) => void,
  onFault: (fault: string) => void,
): (event: ReadEvent) => void {
  let open: { readonly type: ChunkType; readonly id: string } | undefined;

  function expand(type: ChunkType, { type: _, delta, ...event }: ReadEvent): void {
    const { id: key, start, go } = kinds[type];
    const id = (event[key] as string | undefined) ?? (open?.type === type ? open.id : undefined);
    if (id === undefined) {
      onFault(`${type}: the first chunk has no ${key}`);
      return;
    }
    if (open?.type !== type || open.id !== id) {
      close();
      if (type === "TOOL_CALL_CHUNK" && event["toolCallName"] === undefined) {
        onFault(`${type}: the first chunk has no toolCallName`);
        return;
      }
      open = { type, id };
      pass({ ...event, type: start });
    }
    if (typeof delta === "string") pass({ type: go, [key]: id, delta });
  }

  function close(): void {
    if (open === undefined) return;
    const { id: key, end } = kinds[open.type];
    const { id } = open;
    open = undefined;
    pass({ type: end, [key]: id });
  }

  return (event) => {
    if (isChunk(event.type)) {
      expand(event.type, event);
      return;
    }
    if (!beside.test(event.type)) close();
    pass(event);
  };
}

function isChunk(type: string): type is ChunkType {
  return Object.hasOwn(kinds, type);
}
