import { HumanPlusError } from "../error.ts";
import type { ErrorCode } from "../gen/types.ts";
import type { Delivery, Demand, Receiver, RelayLink, Subscription } from "../transport.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import { MAX_TIMER_MS, startIdleTimer } from "./timer.ts";

export interface LegOptions {
  /** With the label that is unique to this leg. */
  link: RelayLink;
  receiver: Receiver;
  idleLegMs: number;
  now: () => number;
  random: () => number;
  onDelivery: (delivery: Delivery) => void;
  /** The leg opened again and cannot tell what it missed. */
  onGap: () => void;
  /** An attempt to open failed. Terminal: the relay will not have us, and nothing is tried again by itself. */
  onFailure: (error: HumanPlusError, terminal: boolean) => void;
}

/** One receiving leg: opened when somebody needs it, opened again when it drops, closed when nobody does. */
export interface Leg {
  /** Resolves once the leg is open, rejects with what kept the next attempt from opening it. */
  opened(): Promise<void>;
  /** Whether it is open, or about to be. */
  readonly isRunning: boolean;
  /** Whether it is open now. */
  readonly isOpen: boolean;
  /** The connection stands, and not a byte has come: not over it, and not over one before. */
  readonly silent: boolean;
  /** What the last attempt failed with, while none has succeeded since. */
  readonly lastError: HumanPlusError | undefined;
  /**
   * Somebody waits for something. Gives back what ends that.
   *
   * @param until when it ends by itself at the latest, on the clock of the leg
   */
  need(until: number): () => void;
  close(): void;
}

/** Refusals that opening again would only repeat. */
const TERMINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "attachment_unauthorized",
  "surface_unavailable",
  "endpoint_refused",
  "relay_protocol_error",
  "invalid_argument",
  "closed",
]);

interface Waiter {
  resolve: () => void;
  reject: (error: HumanPlusError) => void;
}

/** What lasts from the start of a leg to its stop, over as many connections as that takes. */
interface Course {
  readonly controller: AbortController;
  subscription: Subscription | undefined;
  connected: boolean;
  /** Ends the pause between two attempts, or two polls. */
  endPause: ((isNeeded: boolean) => void) | undefined;
}

export function createLeg(options: LegOptions): Leg {
  const { link, receiver, idleLegMs, now, random, onDelivery, onGap, onFailure } = options;
  const backoff: Backoff = createBackoff({ random });
  const waiters: Waiter[] = [];
  const needs = new Set<{ readonly until: number }>();
  let course: Course | undefined;
  let cursor: string | undefined;
  let wasOpen = false;
  let wasSilent = false;
  let wasHeard = false;
  let lastError: HumanPlusError | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let idleSince = 0;

  const isNeeded = () => needs.size > 0;

  function remainingMs(): number {
    const time = now();
    let latest = isNeeded() ? time : idleSince + idleLegMs;
    for (const { until } of needs) latest = Math.max(latest, until);
    return Math.max(0, latest - time); // a relay refuses a poll that asks it to wait less than not at all
  }

  async function run(own: Course): Promise<void> {
    const { signal } = own.controller;
    while (true) {
      let retryAfterMs = 0;
      try {
        await follow(own, signal);
        wasSilent = own.subscription?.silent ?? false;
        wasHeard ||= !wasSilent;
      } catch (error) {
        if (signal.aborted) return;
        lastError = toHumanPlusError(error);
        wasSilent = lastError.code === "stream_buffered";
        retryAfterMs = lastError.retryAfterMs ?? 0;
        const terminal = TERMINAL.has(lastError.code);
        for (const waiter of waiters.splice(0)) waiter.reject(lastError);
        onFailure(lastError, terminal);
        if (terminal && course === own) stop();
      }
      if (signal.aborted) return;
      const waitMs = Math.max(backoff.nextMs(own.subscription?.retryMs), retryAfterMs);
      own.subscription = undefined;
      own.connected = false;
      if (!isNeeded()) return stop();
      await pause(own, waitMs);
      if (signal.aborted) return;
    }
  }

  /** Opens the leg once and hands on what it delivers, until it ends. */
  async function follow(own: Course, signal: AbortSignal): Promise<void> {
    const onConnect = () => {
      own.connected = true;
    };
    const demand: Demand = { remainingMs, pause: (ms) => pause(own, ms) };
    own.subscription = await receiver.open(link, { after: cursor, signal, demand, onConnect });
    if (signal.aborted) return;
    lastError = undefined;
    const missed = wasOpen && cursor === undefined;
    wasOpen = true;
    for (const waiter of waiters.splice(0)) waiter.resolve();
    if (missed) onGap();
    for await (const delivery of own.subscription) {
      if (signal.aborted) return;
      backoff.reset();
      if (delivery.cursor !== undefined) cursor = delivery.cursor;
      onDelivery(delivery);
    }
  }

  // Whoever waits for a reply has a deadline timer that keeps the process alive; a hold has none, and does not.
  function pause(own: Course, ms: number): Promise<boolean> {
    if (own.controller.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isNeeded: boolean) => {
        clearTimeout(timer);
        own.endPause = undefined;
        resolve(isNeeded);
      };
      const timer = startIdleTimer(() => end(false), Math.min(ms, MAX_TIMER_MS));
      own.endPause = end;
    });
  }

  function start(): void {
    if (course !== undefined) return;
    course = { controller: new AbortController(), subscription: undefined, connected: false, endPause: undefined };
    void run(course);
  }

  function stop(): void {
    clearTimeout(idleTimer);
    idleTimer = undefined;
    const own = course;
    course = undefined;
    own?.controller.abort();
    own?.endPause?.(false);
  }

  function release(): void {
    if (isNeeded() || course === undefined) return;
    idleSince = now();
    if (course.subscription === undefined) stop();
    else if (idleTimer === undefined) watchIdle(idleLegMs);
  }

  function watchIdle(ms: number): void {
    idleTimer = startIdleTimer(() => {
      idleTimer = undefined;
      if (isNeeded()) return;
      const left = idleSince + idleLegMs - now();
      if (left > 0) return watchIdle(left);
      stop();
    }, ms);
  }

  return {
    get isRunning() {
      return course !== undefined;
    },
    get isOpen() {
      return course?.subscription !== undefined;
    },
    get silent() {
      return !wasHeard && (course?.subscription?.silent ?? (course?.connected === true || wasSilent));
    },
    get lastError() {
      return lastError;
    },
    opened() {
      if (course?.subscription !== undefined) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiters.push({ resolve, reject });
        start();
        course?.endPause?.(true);
      });
    },
    need(until) {
      const need = { until };
      needs.add(need);
      start();
      course?.endPause?.(true);
      return () => {
        if (needs.delete(need)) release();
      };
    },
    close() {
      stop();
      const error = new HumanPlusError("closed", "the transport was closed before the receiving leg opened");
      for (const waiter of waiters.splice(0)) waiter.reject(error);
    },
  };
}

function toHumanPlusError(error: unknown): HumanPlusError {
  return error instanceof HumanPlusError
    ? error
    : new HumanPlusError("relay_failed", "the receiving leg failed", { outcome: "not_applied", cause: error });
}
