export interface Alarm {
  /** Looks again at what is due. */
  check(): void;
  close(): void;
}

/**
 * One timer for everything that falls due later. It keeps no process alive.
 *
 * @param due does what is due and returns when something is due next, in the time of `now`
 */
export function createAlarm(due: (time: number) => number, now: () => number): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let looking = false;
  let again = false;
  function check(): void {
    clearTimeout(timer);
    again = true;
    if (closed || looking) return; // whoever hears of what was due comes here too
    looking = true;
    let next = 0;
    try {
      while (again) {
        again = false;
        next = due(now());
      }
    } finally {
      looking = false;
    }
    if (closed || next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(check, Math.min(Math.max(next - now(), 1), 2 ** 31 - 1));
    (timer as { unref?: () => void }).unref?.();
  }
  return {
    check,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
