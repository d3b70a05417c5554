import { HumanPlusError } from "../error.ts";
import type { ErrorCode } from "../gen/types.ts";
import type { Delivery, OpenOptions, Receiver, RelayLink, Subscription } from "../transport.ts";
import { startIdleTimer } from "./timer.ts";

/** Why a relay is received from in the second way. */
export interface Fallback {
  /** The origin of the relay. */
  readonly origin: string;
  /**
   * `refused`: the leg did not open. `silent`: it stood without a byte, as behind a proxy that buffers. `cut`: it ended
   * before it was old, as behind a proxy that allows no long answers.
   */
  readonly reason: "refused" | "silent" | "cut";
}

export interface FallbackReceiverOptions {
  /** What is tried first. */
  first: Receiver;
  /** What every way to a relay lets through. */
  second: Receiver;
  /** How long a leg may be without its first byte once its connection stands, in milliseconds. @default 1_500 */
  silentMs?: number | undefined;
  /** A leg that ends before this age was cut, in milliseconds. @default 5_000 */
  cutMs?: number | undefined;
  /** Hears of a relay that is received from in the second way from now on: once for each. It must not throw. */
  onFallback?: ((fallback: Fallback) => void) | undefined;
  /** A clock in milliseconds that never goes back. @default performance.now */
  now?: (() => number) | undefined;
}

/** Failures that another way of receiving may not have. Who is not entitled is not entitled either way. */
const MENDABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "relay_protocol_error",
  "relay_failed",
  "stream_buffered",
]);
/** The shortest patience with silence, for calls that have little time. */
const SILENT_AT_LEAST_MS = 250;

/**
 * Receives in one way, and in another where the first does not get through: decided while a leg opens or opens again,
 * so that the exchange that waits for it goes on, and remembered for each relay.
 */
export function createFallbackReceiver({
  first,
  second,
  silentMs = 1_500,
  cutMs = 5_000,
  onFallback,
  now = () => performance.now(),
}: FallbackReceiverOptions): Receiver {
  const moved = new Set<string>();
  const doubts = new Map<string, Fallback["reason"]>();
  /** Relays that refuse the second way as well: there the first one is as good as it gets. */
  const stuck = new Set<string>();

  /** Opens the first leg and waits until it has spoken. @throws HumanPlusError `stream_buffered` where it does not */
  async function openFirst(link: RelayLink, options: OpenOptions): Promise<Subscription> {
    const { signal, demand } = options;
    const own = new AbortController();
    const stop = () => own.abort();
    signal.addEventListener("abort", stop, { once: true });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const { promise: silence, reject } = Promise.withResolvers<never>();
    silence.catch(() => {});
    const onConnect = () => {
      options.onConnect?.();
      const patience = Math.min(silentMs, Math.max(SILENT_AT_LEAST_MS, demand.remainingMs() / 3));
      timer ??= startIdleTimer(() => reject(silenceError(patience)), patience);
    };
    try {
      const opening = first.open(link, { ...options, signal: own.signal, onConnect });
      const subscription = await Promise.race([opening, silence]);
      if (subscription.heard !== undefined) await Promise.race([subscription.heard(), silence]);
      return watched(subscription, link, signal, () => signal.removeEventListener("abort", stop));
    } catch (error) {
      own.abort();
      signal.removeEventListener("abort", stop);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Notes whether a leg ended by somebody else's doing, and before it was old. */
  function watched(subscription: Subscription, link: RelayLink, signal: AbortSignal, onEnd: () => void): Subscription {
    const origin = originOf(link);
    const openedAt = now();
    async function* deliveries(): AsyncGenerator<Delivery, void> {
      let isCut = false;
      try {
        yield* subscription;
        isCut = true;
      } catch (error) {
        isCut = reasonOf(error) !== undefined;
        throw error;
      } finally {
        onEnd();
        if (isCut && !signal.aborted && now() - openedAt < cutMs && !stuck.has(origin)) doubts.set(origin, "cut");
      }
    }
    return {
      get silent() {
        return subscription.silent;
      },
      get retryMs() {
        return subscription.retryMs;
      },
      [Symbol.asyncIterator]: deliveries,
    };
  }

  function tell(fallback: Fallback): void {
    try {
      onFallback?.(fallback);
    } catch {
      // It was told not to; the leg is open all the same.
    }
  }

  return {
    async open(link, options) {
      const origin = originOf(link);
      if (moved.has(origin)) return second.open(link, options);
      let reason = doubts.get(origin);
      let failure: unknown;
      if (reason === undefined) {
        try {
          return await openFirst(link, options);
        } catch (error) {
          reason = options.signal.aborted ? undefined : reasonOf(error);
          if (reason === undefined || stuck.has(origin)) throw error;
          failure = error;
        }
      }
      try {
        const subscription = await second.open(link, options);
        if (!moved.has(origin)) {
          moved.add(origin);
          doubts.delete(origin);
          tell({ origin, reason });
        }
        return subscription;
      } catch (error) {
        doubts.delete(origin);
        if (options.signal.aborted || reasonOf(error) !== "refused") throw error;
        if ((error as HumanPlusError).code === "relay_protocol_error") stuck.add(origin);
        if (failure !== undefined) throw failure;
        return openFirst(link, options);
      }
    },
  };
}

function originOf({ invitation }: RelayLink): string {
  const { relayBaseUrl } = invitation;
  // What is no URL is refused by the endpoint, which is asked next.
  return URL.canParse(relayBaseUrl) ? new URL(relayBaseUrl).origin : relayBaseUrl;
}

function reasonOf(error: unknown): Fallback["reason"] | undefined {
  if (!(error instanceof HumanPlusError) || !MENDABLE.has(error.code)) return undefined;
  return error.code === "stream_buffered" ? "silent" : "refused";
}

function silenceError(ms: number): HumanPlusError {
  return new HumanPlusError(
    "stream_buffered",
    `the connection stands, but the event stream delivered nothing within ${Math.round(ms)} ms: it looks as if something on the way (a proxy, say) buffers it`,
    { outcome: "not_applied" },
  );
}
