import { HumanPlusError } from "../error.ts";
import { jsonRpcVersion, limits, methods } from "../gen/constants.ts";
import type { ErrorResponse, Notification, Request, RequestId, Response } from "../gen/types.ts";
import type {
  Delivery,
  EndListener,
  ExchangeOptions,
  GapListener,
  NotificationListener,
  Receiver,
  RelayLink,
  RelayTransport,
  Sender,
} from "../transport.ts";
import { clientLabel, createLabelSuffix } from "./client-label.ts";
import { createLeg, type Leg } from "./leg.ts";
import { createPendingExchange, type PendingExchange } from "./pending-exchange.ts";
import { MAX_TIMER_MS } from "./timer.ts";

export interface ExchangeEngineOptions {
  /** How frames leave. The engine closes it with itself. */
  sender: Sender;
  /** How frames arrive. */
  receiver: Receiver;
  /**
   * Whether the receiving leg is open before a request is posted. `send-first` is only for relays with a single
   * synchronous worker, which would wait for themselves, and which keep undelivered frames.
   *
   * @default "leg-first"
   */
  order?: "leg-first" | "send-first" | undefined;
  /** A receiving leg that nobody has needed for this long is closed, in milliseconds. @default 15_000 */
  idleLegMs?: number | undefined;
  /** A clock in milliseconds that never goes back. @default performance.now */
  now?: (() => number) | undefined;
  /** A number from 0 up to 1, for the jitter of reconnecting. @default Math.random */
  random?: (() => number) | undefined;
}

/** How long a reply is waited for after the answer to its POST was lost. */
const GRACE_MS = 2_000;
/** How long the news that nobody waits any more may take. Nobody waits for it either. */
const CANCEL_MS = 5_000;

interface Channel {
  /** As the caller knows it. */
  readonly origin: RelayLink;
  /** With the label that is unique to this channel. */
  readonly link: RelayLink;
  readonly leg: Leg;
  readonly pending: Map<RequestId, PendingExchange>;
  /** Deliveries that were no frame and named no request. */
  unreadable: number;
  lastUsed: number;
}

/**
 * The exchange of frames over any receiver: correlation, deadlines, one leg shared by the exchanges of a link,
 * reopening it, closing it when idle. Transports are this engine, a receiver and a sender.
 */
export function createExchangeEngine({
  sender,
  receiver,
  order = "leg-first",
  idleLegMs = limits.idleLegMs,
  now = () => performance.now(),
  random = Math.random,
}: ExchangeEngineOptions): RelayTransport {
  const suffix = createLabelSuffix();
  const channels = new Map<string, Channel>();
  const alive = new Set<PendingExchange>();
  const listeners = new Set<NotificationListener>();
  const gapListeners = new Set<GapListener>();
  const endListeners = new Set<EndListener>();
  const closing = new AbortController();
  let ordinal = 0;
  let sweepAt = 64;

  function channelOf(origin: RelayLink): Channel {
    const known = channels.get(origin.id);
    if (known !== undefined) {
      known.lastUsed = now();
      return known;
    }
    sweep();
    const pending = new Map<RequestId, PendingExchange>();
    const link: RelayLink = { ...origin, client: clientLabel(origin.client, suffix, ordinal++) };
    const leg = createLeg({
      link,
      receiver,
      idleLegMs,
      now,
      random,
      onDelivery: (delivery) => deliver(channel, delivery),
      onGap: () => tellGap(origin),
      onFailure: (error, terminal) => {
        if (!terminal) return;
        for (const exchange of [...pending.values()]) exchange.refused(error);
        for (const listener of endListeners) unharmed(() => listener(origin, error));
      },
    });
    const channel: Channel = { origin, link, leg, pending, unreadable: 0, lastUsed: now() };
    channels.set(origin.id, channel);
    return channel;
  }

  /** Forgets channels whose cursors no relay knows any more. Runs rarely, so that it costs nothing per exchange. */
  function sweep(): void {
    if (channels.size < sweepAt) return;
    for (const [id, { leg, lastUsed }] of channels)
      if (!leg.isRunning && now() - lastUsed > limits.queueAgeMs) channels.delete(id);
    sweepAt = Math.max(64, channels.size * 2);
  }

  function deliver(channel: Channel, delivery: Delivery): void {
    const { origin, pending } = channel;
    switch (delivery.kind) {
      case "gap":
        tellGap(origin);
        return;
      case "cursor":
        return;
      case "malformed":
        if (delivery.id === undefined) channel.unreadable++;
        else pending.get(delivery.id)?.malformed(delivery);
        return;
      case "frame": {
        const { frame } = delivery;
        if (frame.method === undefined) {
          if (frame.id !== null) pending.get(frame.id)?.reply(frame);
        } else if (frame.id === undefined) {
          // Surfaces are servers: what they ask of an agent is answered by nobody.
          tell(origin, frame);
        }
        return;
      }
      default:
        delivery satisfies never;
    }
  }

  function tell(origin: RelayLink, notification: Notification): void {
    for (const listener of listeners) unharmed(() => listener(origin, notification));
  }

  function tellGap(origin: RelayLink): void {
    for (const listener of gapListeners) unharmed(() => listener(origin));
  }

  function cancel({ link }: Channel, requestId: RequestId, reason: string): void {
    const frame: Notification = {
      jsonrpc: jsonRpcVersion,
      method: methods.cancelled,
      params: { requestId, reason },
    };
    const signal = AbortSignal.any([AbortSignal.timeout(CANCEL_MS), closing.signal]);
    sender.send(link, frame, { signal }).catch(() => {});
  }

  /** Runs one operation that waits for no reply, within its time. */
  async function bounded<T>(
    { timeoutMs, signal }: ExchangeOptions,
    what: string,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    assertUsable(timeoutMs, signal, what);
    const controller = new AbortController();
    const stop = () => controller.abort();
    const timer = setTimeout(stop, Math.min(timeoutMs, MAX_TIMER_MS));
    signal?.addEventListener("abort", stop, { once: true });
    closing.signal.addEventListener("abort", stop, { once: true });
    const interrupted = (error: unknown): HumanPlusError => {
      const outcome = error instanceof HumanPlusError ? error.outcome : "unknown";
      if (closing.signal.aborted)
        return new HumanPlusError("closed", `the transport was closed during ${what}`, { outcome });
      if (signal?.aborted === true) return new HumanPlusError("aborted", `${what} was aborted`, { outcome });
      return new HumanPlusError("relay_timeout", `${what} took more than ${timeoutMs} ms`, {
        outcome,
        retryable: outcome === "not_applied",
      });
    };
    try {
      return await run(controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? interrupted(error) : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      closing.signal.removeEventListener("abort", stop);
    }
  }

  function assertUsable(timeoutMs: number, signal: AbortSignal | undefined, what: string): void {
    if (closing.signal.aborted) throw new HumanPlusError("closed", `the transport is closed; ${what} was not sent`);
    if (!(timeoutMs > 0)) throw new HumanPlusError("invalid_argument", "timeoutMs should be a number above 0");
    if (signal?.aborted === true)
      throw new HumanPlusError("aborted", `${what} was aborted before anything was sent`, { outcome: "not_applied" });
  }

  return {
    async exchange(origin: RelayLink, request: Request, options: ExchangeOptions): Promise<Response | ErrorResponse> {
      assertUsable(options.timeoutMs, options.signal, request.method);
      const channel = channelOf(origin);
      const { link, leg, pending } = channel;
      if (pending.has(request.id))
        throw new HumanPlusError(
          "invalid_argument",
          "the id of the request should be new: another exchange waits for it",
        );
      const exchange = createPendingExchange({
        ...options,
        link,
        request,
        leg,
        sender,
        order,
        graceMs: GRACE_MS,
        now,
        unreadable: () => channel.unreadable,
        onAbandoned: (reason) => cancel(channel, request.id, reason),
        onDone: () => alive.delete(exchange),
      });
      alive.add(exchange);
      pending.set(request.id, exchange);
      try {
        return await exchange.answer;
      } finally {
        pending.delete(request.id);
        channel.lastUsed = now();
      }
    },

    async notify(origin, notification, options) {
      const { link } = channelOf(origin);
      const result = await bounded(options, notification.method, (signal) =>
        sender.send(link, notification, { signal }),
      );
      if (result.kind === "unconfirmed") throw result.error;
    },

    async detach(origin, options) {
      const { link, leg, pending } = channelOf(origin);
      for (const exchange of [...pending.values()]) exchange.close();
      leg.close();
      channels.delete(origin.id);
      await bounded(options, "detach", (signal) => sender.unregister(link, { signal }));
    },

    onNotification(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    onGap(listener) {
      gapListeners.add(listener);
      return () => gapListeners.delete(listener);
    },

    onEnd(listener) {
      endListeners.add(listener);
      return () => endListeners.delete(listener);
    },

    hold(origin) {
      if (closing.signal.aborted) throw new HumanPlusError("closed", "the transport is closed");
      const { leg } = channelOf(origin);
      return leg.need(Number.POSITIVE_INFINITY);
    },

    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      for (const exchange of [...alive]) exchange.close();
      for (const { leg } of channels.values()) leg.close();
      channels.clear();
      listeners.clear();
      gapListeners.clear();
      endListeners.clear();
      await sender.close();
    },
  };
}

/** A listener that throws hurts nobody but itself. */
function unharmed(run: () => void): void {
  try {
    run();
  } catch {
    // It was told not to; there is nobody here to tell.
  }
}
