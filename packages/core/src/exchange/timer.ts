/** Timers of the platform take no more, and fire at once when they are asked for more. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer that keeps no process alive, where the platform can tell. In a browser there is nothing to tell. */
export function startIdleTimer(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms);
  setTimerRef(timer, false);
  return timer;
}

/** Says whether a timer keeps the process alive. */
export function setTimerRef(timer: ReturnType<typeof setTimeout>, ref: boolean): void {
  const handle = timer as unknown as { ref?: () => void; unref?: () => void };
  if (ref) handle.ref?.();
  else handle.unref?.();
}
