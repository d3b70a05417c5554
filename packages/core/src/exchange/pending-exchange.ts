import { HumanPlusError, type HumanPlusErrorOptions } from "../error.ts";
import type { ErrorResponse, Request, Response } from "../gen/types.ts";
import { issueText } from "../parse/unwrap.ts";
import type { Delivery, ExchangeOptions, RelayLink, Sender } from "../transport.ts";
import type { Leg } from "./leg.ts";
import { MAX_TIMER_MS, setTimerRef } from "./timer.ts";

export interface PendingExchangeOptions extends ExchangeOptions {
  /** With the label that is unique to the leg. */
  link: RelayLink;
  request: Request;
  leg: Leg;
  sender: Sender;
  order: "leg-first" | "send-first";
  /** How long a reply is waited for after the answer to its POST was lost, in milliseconds. */
  graceMs: number;
  now: () => number;
  /** Nobody waits any more, but the surface may still work on the request. */
  onAbandoned: (reason: string) => void;
  /** How many deliveries of the link named no request, because they could not be read. */
  unreadable: () => number;
  /** Nothing of the exchange is left, not even its POST. */
  onDone: () => void;
}

/** One request on its way, and what may end it. The first end counts, the others do nothing. */
export interface PendingExchange {
  readonly answer: Promise<Response | ErrorResponse>;
  reply(frame: Response | ErrorResponse): void;
  malformed(delivery: Extract<Delivery, { kind: "malformed" }>): void;
  /** The relay refuses the leg for good. */
  refused(error: HumanPlusError): void;
  close(): void;
}

export function createPendingExchange(options: PendingExchangeOptions): PendingExchange {
  const { link, request, leg, sender, order, graceMs, now, timeoutMs, unreadable, signal, onAbandoned, onDone } =
    options;
  const { promise: answer, resolve, reject } = Promise.withResolvers<Response | ErrorResponse>();
  const sending = new AbortController();
  const end = now() + timeoutMs;
  const shownMs = Math.ceil(timeoutMs);
  const unreadableBefore = unreadable();
  // While it is in flight only the sender knows whether bytes have left.
  let stage: "unsent" | "in flight" | "sent" | "over" = "unsent";
  let isPostOpen = false;
  /** Why it ends, while the sender is asked what became of the POST. */
  let ending: { error: HumanPlusError; reason: string | undefined } | undefined;
  /** What the POST failed with, while its reply may still come. */
  let unconfirmed: HumanPlusError | undefined;
  /** What refused the leg, while the POST may still be refused with more to say. */
  let refusal: HumanPlusError | undefined;
  let timer = setTimeout(onTime, Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener("abort", onAbort, { once: true });
  let release: (() => void) | undefined;
  if (order === "leg-first") {
    release = leg.need(end);
    leg.opened().then(send, failUnsent);
  } else {
    void send();
  }

  async function send(): Promise<void> {
    if (stage !== "unsent") return;
    stage = "in flight";
    isPostOpen = true;
    try {
      const result = await sender.send(link, request, { signal: sending.signal });
      onSent(result.kind === "unconfirmed" ? result.error : undefined);
    } catch (error) {
      onSendFailed(toHumanPlusError(error));
    } finally {
      isPostOpen = false;
      finish();
    }
  }

  function onSent(lost: HumanPlusError | undefined): void {
    if (stage === "over") return;
    stage = "sent";
    // With send-first, a worker that would wait for itself is free again by now.
    release ??= leg.need(end);
    if (ending !== undefined) {
      conclude("unknown");
    } else if (refusal !== undefined) {
      failRefused(refusal);
    } else if (lost !== undefined) {
      unconfirmed = lost;
      clearTimeout(timer);
      timer = setTimeout(onTime, Math.max(0, Math.min(graceMs, end - now())));
    }
  }

  function onSendFailed(error: HumanPlusError): void {
    if (stage === "over") return;
    if (ending === undefined) fail(error);
    else conclude(error.outcome);
  }

  function failUnsent(error: HumanPlusError): void {
    // Nothing was sent, whatever it was that kept the leg from opening: trying again is safe unless it is hopeless.
    fail(copyOf(error, { outcome: "not_applied", retryable: error.retryable || error.code === "relay_failed" }));
  }

  function failRefused(error: HumanPlusError): void {
    fail(copyOf(error, { outcome: "unknown", retryable: false }));
  }

  function onTime(): void {
    // The reply came first and the POST is still open: it gets no more time than the exchange had.
    if (stage === "over") sending.abort();
    else if (unconfirmed === undefined) abandon(timeoutError(), `no answer within ${shownMs} ms`);
    else abandon(unconfirmed, "the answer of the relay was lost");
  }

  function onAbort(): void {
    abandon(new HumanPlusError("aborted", `${request.method} was aborted`), "aborted");
  }

  function timeoutError(): HumanPlusError {
    if (leg.silent) {
      return new HumanPlusError(
        "stream_buffered",
        `the connection stands, but the event stream delivered nothing within ${shownMs} ms: it looks as if something on the way (a proxy, say) buffers it. Use long polling, @human-plus/transport-longpoll`,
      );
    }
    if (stage === "unsent")
      return new HumanPlusError(
        "relay_timeout",
        `the receiving leg did not open within ${shownMs} ms; ${request.method} was not sent`,
      );
    const { isOpen, lastError: cause } = leg;
    if (isOpen || cause === undefined) {
      const lost = unreadable() - unreadableBefore;
      const also = lost === 0 ? "" : `; ${lost} message(s) that could not be read arrived meanwhile`;
      return new HumanPlusError("relay_timeout", `no answer to ${request.method} within ${shownMs} ms${also}`);
    }
    return new HumanPlusError(
      "relay_timeout",
      `no answer to ${request.method} within ${shownMs} ms; the receiving leg is down: ${cause.message}`,
      { cause },
    );
  }

  /** Ends the exchange from this side. The outcome is known once the sender has let go of the POST. */
  function abandon(error: HumanPlusError, reason: string | undefined): void {
    if (stage === "over" || ending !== undefined) return;
    ending = { error, reason };
    if (stage === "unsent") conclude("not_applied");
    else if (stage === "sent") conclude("unknown");
    else sending.abort();
  }

  function conclude(outcome: HumanPlusError["outcome"]): void {
    if (ending === undefined) return;
    const { error, reason } = ending;
    fail(
      copyOf(error, {
        outcome,
        retryable: outcome === "not_applied" && error.code !== "closed" && error.code !== "aborted",
      }),
    );
    if (outcome !== "not_applied" && reason !== undefined) onAbandoned(reason);
  }

  function fail(error: HumanPlusError): void {
    if (!settle()) return;
    reject(error);
    finish();
  }

  function settle(): boolean {
    if (stage === "over") return false;
    stage = "over";
    signal?.removeEventListener("abort", onAbort);
    release?.();
    return true;
  }

  function finish(): void {
    if (stage !== "over") return;
    if (isPostOpen) {
      setTimerRef(timer, false);
    } else {
      clearTimeout(timer);
      onDone();
    }
  }

  return {
    answer,
    reply(frame) {
      if (!settle()) return;
      resolve(frame);
      finish();
    },
    malformed({ issues }) {
      const places = issues.map(issueText).join("; ");
      fail(
        new HumanPlusError("relay_protocol_error", `the answer to ${request.method} is malformed: ${places}`, {
          outcome: "unknown",
          issues,
        }),
      );
    },
    refused(error) {
      if (stage === "sent") failRefused(error);
      else refusal = error;
    },
    close() {
      if (stage === "over") {
        clearTimeout(timer);
        sending.abort();
        return;
      }
      abandon(
        new HumanPlusError("closed", `the transport was closed before ${request.method} was answered`),
        undefined,
      );
    },
  };
}

function toHumanPlusError(error: unknown): HumanPlusError {
  return error instanceof HumanPlusError
    ? error
    : new HumanPlusError("relay_failed", "the frame could not be sent", { cause: error });
}

/** An error of its own for each exchange: many may fail with one cause. */
function copyOf(error: HumanPlusError, changes: Pick<HumanPlusErrorOptions, "outcome" | "retryable">): HumanPlusError {
  const { code, message, outcome, retryable, retryAfterMs, issues, cause } = error;
  return new HumanPlusError(code, message, {
    outcome,
    retryable,
    retryAfterMs,
    issues,
    ...changes,
    ...(cause === undefined ? {} : { cause }),
  });
}
