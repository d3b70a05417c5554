import { createBoundedBody } from "./bounded-body.ts";
import { type AnswerHead, type HttpRequest, type RequestCarrier, startRequest, type Timeouts } from "./http-request.ts";

/**
 * The bytes of an answer that has no end of its own, in batches of what has come since the last one. It ends when the
 * connection does; leaving the loop closes it.
 */
export interface ByteStream extends AsyncIterable<readonly Uint8Array[]> {
  /** Not a byte has come. */
  readonly silent: boolean;
  /** Resolves with the first byte, or when it ends without one. */
  heard(): Promise<void>;
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
  dispatcher: RequestCarrier,
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
  let batch: Uint8Array[] = [];
  let bytes = 0;
  let isSilent = true;
  let isOver = false;
  let wake: (() => void) | undefined;
  let isHeard: PromiseWithResolvers<void> | undefined;

  function close(): void {
    batch = [];
    leave();
  }

  const iterator: AsyncIterator<readonly Uint8Array[], undefined> = {
    async next() {
      // Small chunks come many at once: whoever waits wakes up once for all of them.
      if (batch.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (batch.length === 0) return { done: true, value: undefined };
      const value = batch;
      batch = [];
      if (bytes > HIGH_WATER_BYTES) resume();
      bytes = 0;
      return { done: false, value };
    },
    async return() {
      close();
      return { done: true, value: undefined };
    },
  };

  return {
    stream: {
      get silent() {
        return isSilent;
      },
      heard() {
        isHeard ??= Promise.withResolvers();
        if (!isSilent || isOver) isHeard.resolve();
        return isHeard.promise;
      },
      close,
      [Symbol.asyncIterator]: () => iterator,
    },
    push(chunk) {
      isSilent = false;
      isHeard?.resolve();
      batch.push(chunk);
      if (bytes <= HIGH_WATER_BYTES && bytes + chunk.length > HIGH_WATER_BYTES) pause();
      bytes += chunk.length;
      wake?.();
      wake = undefined;
    },
    end() {
      isOver = true;
      isHeard?.resolve();
      wake?.();
      wake = undefined;
    },
  };
}
