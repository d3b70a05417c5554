import { hash } from "node:crypto";

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that only moves when it is told to, with the timers that hang on it. */
export interface VirtualTime {
  now(): number;
  schedule(delayMs: number, run: () => void): () => void;
  /** Moves on, and fires what falls due on the way, in order. */
  advance(ms: number): void;
  /** When the next timer is due, from now; `undefined` if there is none. */
  nextMs(): number | undefined;
  /**
   * Puts `setTimeout` and `clearTimeout` of the platform on this clock, and takes no time for digests, which other threads
   * would make when they come to it; until what it gives back is called.
   */
  install(): () => void;
}

export function createVirtualTime(): VirtualTime {
  const timers = new Map<number, Timer>();
  let time = 1_000_000;
  let order = 0;

  function next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers.values())
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order))
        first = timer;
    return first;
  }

  function schedule(delayMs: number, run: () => void): () => void {
    const timer: Timer = { due: time + Math.max(0, delayMs), order: ++order, run };
    timers.set(timer.order, timer);
    return () => void timers.delete(timer.order);
  }

  return {
    now: () => time,
    schedule,
    advance(ms) {
      const end = time + ms;
      for (let timer = next(); timer !== undefined && timer.due <= end; timer = next()) {
        timers.delete(timer.order);
        time = Math.max(time, timer.due);
        timer.run();
      }
      time = end;
    },
    nextMs() {
      const timer = next();
      return timer && Math.max(0, timer.due - time);
    },
    install() {
      const { setTimeout, clearTimeout } = globalThis;
      const start = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => ({
        cancel: schedule(ms, () => run(...args)),
      });
      const stop = (timer: { cancel?: () => void } | undefined) => timer?.cancel?.();
      Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
      Object.assign(crypto.subtle, { digest: digestAtOnce });
      return () => {
        Object.assign(globalThis, { setTimeout, clearTimeout });
        Reflect.deleteProperty(crypto.subtle, "digest");
      };
    },
  };
}

async function digestAtOnce(algorithm: string, data: Uint8Array): Promise<ArrayBuffer> {
  const digest = hash(algorithm.replace("-", ""), data, "buffer");
  return new Uint8Array(digest).buffer;
}
