import type { IncomingMessage } from "node:http";
import { eventStream, type Frame, safeParseFrameText } from "@human-plus/core/protocol";
import { createParser } from "eventsource-parser";
import { NoAnswerError } from "./check.ts";

interface EventPart {
  readonly kind: "event";
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** One event, comment or retry field of a stream, in the order in which they came. */
type StreamPart = EventPart | { readonly kind: "comment" } | { readonly kind: "retry"; readonly ms: number };

/** An open event stream, with everything that has come over it. */
export interface EventLeg {
  readonly parts: readonly StreamPart[];
  /** Frames among the parts, in order. */
  frames(): Frame[];
  /** The last cursor. */
  cursor(): string | undefined;
  /** Waits for a part. @throws NoAnswerError naming what was expected */
  part(expected: string, matches: (part: StreamPart) => boolean, timeoutMs?: number): Promise<StreamPart>;
  /** Waits for a frame. @throws NoAnswerError naming what was expected */
  frame(expected: string, matches: (frame: Frame) => boolean): Promise<Frame>;
  close(): void;
}

const MAX_PARTS = 10_000;

export function createEventLeg(answer: IncomingMessage, { timeoutMs }: { timeoutMs: number }): EventLeg {
  const parts: StreamPart[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;

  function look(): void {
    for (const retry of [...waiting]) retry();
  }

  function add(part: StreamPart): void {
    if (parts.length < MAX_PARTS) parts.push(part);
    look();
  }

  const parser = createParser({
    onEvent: ({ event = "message", id, data }) => add({ kind: "event", name: event, id, data }),
    onRetry: (ms) => add({ kind: "retry", ms }),
    onComment: () => add({ kind: "comment" }),
  });
  const decoder = new TextDecoder();
  answer.on("data", (chunk: Buffer) => parser.feed(decoder.decode(chunk, { stream: true })));
  const end = () => {
    isOver = true;
    look();
  };
  answer.on("close", end);
  answer.on("error", end);

  function wait<T>(expected: string, find: () => T | undefined, ms = timeoutMs): Promise<T> {
    const found = find();
    if (found !== undefined) return Promise.resolve(found);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = (why: string) => {
      waiting.delete(check);
      clearTimeout(timer);
      reject(new NoAnswerError(why, { expected }));
    };
    const check = () => {
      const later = find();
      if (later === undefined) {
        if (isOver) fail(`the stream ended after ${parts.length} parts without it`);
        return;
      }
      waiting.delete(check);
      clearTimeout(timer);
      resolve(later);
    };
    const timer = setTimeout(() => fail(`nothing like it on the open stream within ${ms} ms`), ms);
    waiting.add(check);
    if (isOver) check();
    return promise;
  }

  const leg: EventLeg = {
    parts,
    frames: () => parts.flatMap((part) => frameOf(part) ?? []),
    cursor: () => (parts.findLast((part) => part.kind === "event" && Boolean(part.id)) as EventPart | undefined)?.id,
    part: (expected, matches, ms) => wait(expected, () => parts.find(matches), ms),
    frame: (expected, matches) => wait(expected, () => leg.frames().find(matches)),
    close() {
      isOver = true;
      answer.destroy();
    },
  };
  return leg;
}

function frameOf(part: StreamPart): Frame | undefined {
  if (part.kind !== "event" || part.name !== eventStream.frameEvent) return undefined;
  const parsed = safeParseFrameText(part.data);
  return parsed.ok ? parsed.value : undefined;
}
