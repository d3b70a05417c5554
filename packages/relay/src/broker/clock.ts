/** Time as a broker sees it. Handed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds from any start; never goes back. */
  now(): number;
  /** Calls once after `delayMs`, or after 24 days if that is sooner, and gives back what cancels it. It must not keep the process alive. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls on the next turn of the event loop. */
  afterTurn(callback: () => void): void;
}

/** Timers of the platform take no more, and fire at once when they are asked for more. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The clock of the platform. */
export function createSystemClock(): Clock {
  return {
    now: () => performance.now(),
    schedule(delayMs, callback) {
      const timer: unknown = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
      if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function") {
        timer.unref();
      }
      return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
    },
    afterTurn: (callback) => turn(callback),
  };
}

// An immediate comes right after the sockets were looked at; a timer is the next best thing where there are none.
const turn: (callback: () => void) => void =
  typeof setImmediate === "function" ? (callback) => setImmediate(callback) : (callback) => setTimeout(callback, 0);
