import type { Clock } from "../../src/broker/clock.ts";

/** A clock that a test moves. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function createManualClock(): ManualClock {
  let time = 1_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => time,
    schedule(delayMs, callback) {
      const timer = { at: time + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    afterTurn: (callback) => setImmediate(callback),
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        time = Math.max(time, due.at);
        due.callback();
      }
      time = end;
    },
  };
}
