import { eventStream, type Invitation, limits } from "@human-plus/core/protocol";
import { PlatformEventSource } from "#event-source";
import { backoffMs, sleep } from "./backoff.ts";
import { createObservable, type Observable } from "./observable.ts";
import { createOutbox } from "./outbox.ts";
import { createRelayClient } from "./relay-client.ts";
import type { Surface } from "./surface.ts";

export interface ConnectionState {
  /** `refused`: the relay does not accept the token; it stays so. */
  readonly status: "connecting" | "open" | "reconnecting" | "refused" | "closed";
  /** How frames come in. */
  readonly receiving: "stream" | "poll";
  /** Attempts that failed since it was last open. */
  readonly failures: number;
}

export interface ConnectOptions {
  /**
   * How frames come in. `auto`: an event stream, and long polls when it does not open. A proxy that holds back an open
   * stream cannot be seen from a page: say `poll` there. @default "auto"
   */
  receive?: "auto" | "stream" | "poll" | undefined;
  /** How long one poll asks the relay to wait, in milliseconds. @default 20_000 */
  pollWaitMs?: number | undefined;
  /**
   * How long the relay may take to answer, to the last byte, in milliseconds; to a poll as much longer than it waits. A
   * frame whose answer did not come is sent again.
   *
   * @default 10_000
   */
  answerTimeoutMs?: number | undefined;
  /** How long a stream may take to open, in milliseconds. @default 10_000 */
  openTimeoutMs?: number | undefined;
  /** The first wait after a failure, in milliseconds; it doubles. @default 250 */
  minBackoffMs?: number | undefined;
  /** The longest wait between attempts, in milliseconds. @default 10_000 */
  maxBackoffMs?: number | undefined;
  /** Ends the session when the page goes away. A reload then needs a new one. @default false */
  endOnPageHide?: boolean | undefined;
  /** Closes the connection when it aborts. */
  signal?: AbortSignal | undefined;
}

export interface SurfaceConnection extends Observable<ConnectionState>, AsyncDisposable {
  /** Settles when agents can reach the surface; rejects when they never will. */
  opened(): Promise<void>;
  /**
   * Lets go of the surface. No timer and no request outlives it.
   *
   * @param options.unregister ends the session for its agents @default true
   */
  close(options?: { unregister?: boolean | undefined }): Promise<void>;
}

const SEEN_CURSORS = 1_024;
const STREAM_ATTEMPTS = 2;
/** An empty poll that was answered sooner than this is not repeated at once. */
const SOON_MS = 500;

/** Attaches a surface to a relay, and keeps it attached: it registers again when the relay forgot the session. */
export function connectSurface(
  surface: Surface,
  invitation: Invitation,
  {
    receive = "auto",
    pollWaitMs = 20_000,
    answerTimeoutMs = limits.connectTimeoutMs,
    openTimeoutMs = limits.connectTimeoutMs,
    minBackoffMs = 250,
    maxBackoffMs = 10_000,
    endOnPageHide = false,
    signal,
  }: ConnectOptions = {},
): SurfaceConnection {
  const stop = new AbortController();
  const relay = createRelayClient(invitation, stop.signal, answerTimeoutMs);
  let state: ConnectionState = {
    status: "connecting",
    receiving: receive === "poll" ? "poll" : "stream",
    failures: 0,
  };
  const observable = createObservable(() => state);
  const outbox = createOutbox({
    send: relay.send,
    register: relay.register,
    signal: stop.signal,
    minBackoffMs,
    maxBackoffMs,
  });
  const channel = surface.open(outbox.push);

  function set(change: Partial<ConnectionState>): void {
    state = { ...state, ...change };
    observable.changed();
  }

  function failed(): Promise<void> {
    set({ status: state.status === "connecting" ? "connecting" : "reconnecting", failures: state.failures + 1 });
    return sleep(backoffMs(state.failures, minBackoffMs, maxBackoffMs), stop.signal);
  }

  function isOpen(): void {
    if (!stop.signal.aborted) set({ status: "open", failures: 0 });
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const answer = await relay.register();
      if (stop.signal.aborted) return;
      if (answer === "ok") {
        channel.reset();
        await (state.receiving === "stream" ? stream() : poll());
        if (stop.signal.aborted) return;
        if (receive === "auto" && (state.receiving === "poll" || state.failures >= STREAM_ATTEMPTS))
          set({ receiving: state.receiving === "poll" ? "stream" : "poll" });
      } else if (answer === "unknown" || answer === "never") {
        set({ status: "refused" });
        return end();
      }
      await failed();
    }
  }

  /** Ends when the stream is lost for good. Short of that, the EventSource reconnects with its cursor by itself. */
  function stream(): Promise<void> {
    return new Promise((resolve) => {
      if (PlatformEventSource === undefined) return resolve();
      const source = new PlatformEventSource(relay.streamUrl);
      const seen = new Set<string>();
      let lost = 0;
      const close = () => {
        clearTimeout(timer);
        stop.signal.removeEventListener("abort", close);
        source.close();
        resolve();
      };
      const timer = setTimeout(close, openTimeoutMs);
      stop.signal.addEventListener("abort", close);
      source.onopen = () => {
        clearTimeout(timer);
        lost = 0;
        isOpen();
      };
      source.onerror = () => {
        if (source.readyState === PlatformEventSource?.CLOSED || ++lost > STREAM_ATTEMPTS) return close();
        set({ status: "reconnecting", failures: state.failures + 1 });
      };
      source.addEventListener(eventStream.frameEvent, ({ data, lastEventId }: MessageEvent<string>) => {
        if (lastEventId !== "" && seen.has(lastEventId)) return;
        seen.add(lastEventId);
        const [oldest = ""] = seen;
        if (seen.size > SEEN_CURSORS) seen.delete(oldest);
        channel.receive(data);
      });
    });
  }

  async function poll(): Promise<void> {
    let subscriber: string | undefined;
    while (!stop.signal.aborted) {
      const asked = Date.now();
      const answer = await relay.poll(subscriber === undefined ? 0 : pollWaitMs, subscriber);
      if (typeof answer === "string") return;
      const { body } = answer;
      const { subscriber: named, frames } = (body ?? {}) as { subscriber?: unknown; frames?: unknown };
      const first = subscriber === undefined;
      if (typeof named === "string") subscriber = named;
      if (state.status !== "open") isOpen();
      const list: unknown[] = Array.isArray(frames) ? frames.slice(0, limits.pollFrames) : [];
      for (const frame of list) channel.receive(typeof frame === "string" ? frame : JSON.stringify(frame));
      if (list.length === 0 && !first && Date.now() - asked < SOON_MS) await sleep(SOON_MS, stop.signal);
    }
  }

  function end(): void {
    stop.abort();
    channel.close();
    signal?.removeEventListener("abort", abort);
    if (endOnPageHide) globalThis.removeEventListener?.("pagehide", abort);
  }

  async function close({ unregister = true }: { unregister?: boolean | undefined } = {}): Promise<void> {
    if (stop.signal.aborted) return;
    end();
    set({ status: "closed" });
    if (unregister) await relay.unregister();
  }

  const abort = () => void close();
  signal?.addEventListener("abort", abort);
  if (endOnPageHide) globalThis.addEventListener?.("pagehide", abort);
  if (signal?.aborted) abort();
  void run();

  return {
    subscribe: observable.subscribe,
    getSnapshot: observable.getSnapshot,
    opened: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (state.status === "connecting" || state.status === "reconnecting") return;
          unsubscribe();
          if (state.status === "open") resolve();
          else reject(new Error(`the connection of the surface is ${state.status}`));
        };
        const unsubscribe = observable.subscribe(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
