import { limits } from "../gen/constants.ts";
import { createBoundedBody } from "./bounded-body.ts";
import { type AnswerHead, type HttpRequest, type RequestCarrier, startRequest } from "./http-request.ts";

export type PollResult =
  /** `isTooLarge`: its body is not looked at. */
  | { readonly kind: "answered"; readonly head: AnswerHead; readonly body: string; readonly isTooLarge: boolean }
  | { readonly kind: "broken"; readonly sent: boolean; readonly error: unknown }
  | { readonly kind: "aborted" };

export interface PollRunOptions {
  /** From the connection to the last byte of the answer, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** The request has been handed to a connection. */
  onSent?: (() => void) | undefined;
  /** Whether the body of an answer is worth reading. */
  isReadable: (head: AnswerHead) => boolean;
}

// One timer for all of the answer: a body that trickles is no better than none.
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** Asks once and reads the answer, bounded in bytes and time. Never rejects. */
export function runPoll(
  dispatcher: RequestCarrier,
  request: HttpRequest,
  { timeoutMs, signal, onSent, isReadable }: PollRunOptions,
): Promise<PollResult> {
  if (signal.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) => {
    const body = createBoundedBody(limits.pollAnswerBytes);
    let head: AnswerHead | undefined;
    let sent = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const running = startRequest(dispatcher, request, NO_LIMITS, {
      onStart() {
        sent = true;
        timer = setTimeout(onTime, timeoutMs).unref();
        onSent?.();
      },
      onHead(answered) {
        head = answered;
        if (isReadable(head)) return;
        running.abort();
        settle({ kind: "answered", head, body: "", isTooLarge: false });
      },
      onData(chunk) {
        if (body.add(chunk)) return;
        running.abort();
        settle({ kind: "answered", head: head as AnswerHead, body: "", isTooLarge: true });
      },
      onEnd() {
        const result: PollResult = { kind: "answered", head: head as AnswerHead, body: body.text(), isTooLarge: false };
        // The pool learns after this turn that the connection is free: a poll begun sooner would open another one.
        queueMicrotask(() => setImmediate(settle, result));
      },
      onBreak(error) {
        settle({ kind: "broken", sent, error });
      },
    });
    signal.addEventListener("abort", onAbort, { once: true });

    function onAbort(): void {
      running.abort();
      settle({ kind: "aborted" });
    }

    function onTime(): void {
      running.abort();
      settle({ kind: "broken", sent, error: { code: "UND_ERR_HEADERS_TIMEOUT" } });
    }

    function settle(result: PollResult): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    }
  });
}
