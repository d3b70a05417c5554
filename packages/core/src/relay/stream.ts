import type { Dispatcher } from "undici";
import { createBoundedBody } from "./bounded-body.ts";
import { type AnswerHead, type HttpRequest, startRequest, type Timeouts } from "./http-request.ts";

/** The bytes of an answer that has no end of its own. It ends when the connection does; leaving the loop closes it. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** Not a byte has come. */
  readonly silent: boolean;
  close(): void;
}

export type StreamResult =
  | { readonly kind: "open"; readonly head: AnswerHead; readonly stream: ByteStream }
  | { readonly kind: "refused"; readonly head: AnswerHead; readonly body: string }
  | { readonly kind: "broken"; readonly sent: boolean; readonly error: unknown }
  | { readonly kind: "aborted" };

export interface StreamOptions {
  timeouts: Timeouts;
  signal: AbortSignal;
  onConnect?: (() => void) | undefined;
}

/** Bytes that wait for a reader before the connection is told to pause. */
const HIGH_WATER_BYTES = 1_048_576;

/** Opens a stream. Only status 200 opens one; anything else is a refusal with a bounded body. Never rejects. */
export function openStream(
  dispatcher: Dispatcher,
  request: HttpRequest,
  { timeouts, signal, onConnect }: StreamOptions,
): Promise<StreamResult> {
  if (signal.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) => {
    const refusal = createBoundedBody();
    const queue = createByteQueue({
      pause: () => running.pause(),
      resume: () => running.resume(),
      leave: () => {
        running.abort();
        end();
      },
    });
    let head: AnswerHead | undefined;
    let sent = false;
    const running = startRequest(dispatcher, request, timeouts, {
      onStart() {
        sent = true;
        onConnect?.();
      },
      onHead(answered) {
        head = answered;
        if (head.status === 200) resolve({ kind: "open", head, stream: queue.stream });
      },
      onData(chunk) {
        if (head?.status === 200) return queue.push(chunk);
        if (refusal.add(chunk)) return;
        running.abort();
        end();
      },
      onEnd: end,
      onBreak(error) {
        if (head === undefined) resolve({ kind: "broken", sent, error });
        end();
      },
    });
    signal.addEventListener("abort", onAbort, { once: true });

    function onAbort(): void {
      running.abort();
      resolve({ kind: "aborted" });
      end();
    }

    function end(): void {
      signal.removeEventListener("abort", onAbort);
      queue.end();
      if (head !== undefined) resolve({ kind: "refused", head, body: refusal.text() });
    }
  });
}

interface ByteQueue {
  readonly stream: ByteStream;
  push(chunk: Uint8Array): void;
  end(): void;
}

function createByteQueue({ pause, resume, leave }: Record<"pause" | "resume" | "leave", () => void>): ByteQueue {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isSilent = true;
  let isOver = false;
  let waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | undefined;

  function close(): void {
    chunks.length = 0;
    leave();
  }

  const iterator: AsyncIterator<Uint8Array, undefined> = {
    next() {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        if (bytes > HIGH_WATER_BYTES && bytes - chunk.length <= HIGH_WATER_BYTES) resume();
        bytes -= chunk.length;
        return Promise.resolve({ done: false, value: chunk });
      }
      if (isOver) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    return() {
      close();
      return Promise.resolve({ done: true, value: undefined });
    },
  };

  return {
    stream: {
      get silent() {
        return isSilent;
      },
      close,
      [Symbol.asyncIterator]: () => iterator,
    },
    push(chunk) {
      isSilent = false;
      if (waiting !== undefined) {
        const resolve = waiting;
        waiting = undefined;
        return resolve({ done: false, value: chunk });
      }
      chunks.push(chunk);
      if (bytes <= HIGH_WATER_BYTES && bytes + chunk.length > HIGH_WATER_BYTES) pause();
      bytes += chunk.length;
    },
    end() {
      isOver = true;
      waiting?.({ done: true, value: undefined });
      waiting = undefined;
    },
  };
}
