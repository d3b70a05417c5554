/** Waits for a promise, but no longer than that. Nothing is kept alive by it. @returns nothing if it took longer */
export function atMost<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    unref(timer);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Awaited this often, work that only awaits what is there already lets timers and sockets have their turn. */
export const STEPS_PER_TURN = 256;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** A timer of Node keeps nothing alive. */
export function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
