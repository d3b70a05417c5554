import { createBoundedBody } from "./bounded-body.ts";
import { type AnswerHead, type HttpRequest, type RequestCarrier, startRequest } from "./http-request.ts";

export type PostResult =
  | { readonly kind: "answered"; readonly head: AnswerHead; readonly body: string; readonly isTooLarge: boolean }
  /** `sent`: anything may have left before it broke. */
  | { readonly kind: "broken"; readonly sent: boolean; readonly error: unknown }
  | { readonly kind: "aborted"; readonly sent: boolean };

// Whoever aborts bounds the time of a POST: one deadline for all of it, and no timer of its own.
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** Posts once and reads the answer, bounded. Never rejects. */
export function post(dispatcher: RequestCarrier, request: HttpRequest, signal: AbortSignal): Promise<PostResult> {
  if (signal.aborted) return Promise.resolve({ kind: "aborted", sent: false });
  return new Promise((resolve) => {
    const body = createBoundedBody();
    let head: AnswerHead | undefined;
    let sent = false;
    const running = startRequest(dispatcher, request, NO_LIMITS, {
      onStart() {
        sent = true;
      },
      onHead(answered) {
        head = answered;
      },
      onData(chunk) {
        if (body.add(chunk)) return;
        running.abort();
        settle({ kind: "answered", head: head as AnswerHead, body: "", isTooLarge: true });
      },
      onEnd() {
        settle({ kind: "answered", head: head as AnswerHead, body: body.text(), isTooLarge: false });
      },
      onBreak(error) {
        settle({ kind: "broken", sent, error });
      },
    });
    signal.addEventListener("abort", onAbort, { once: true });

    function onAbort(): void {
      running.abort();
      settle({ kind: "aborted", sent });
    }

    function settle(result: PostResult): void {
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    }
  });
}
