export interface BackoffOptions {
  /** The first delay, in milliseconds. @default 100 */
  firstMs?: number | undefined;
  /** The longest delay, in milliseconds, unless the relay asks for another one. @default 2_000 */
  ceilingMs?: number | undefined;
  /** A number from 0 up to 1. @default Math.random */
  random?: (() => number) | undefined;
}

/** Delays between attempts: doubling, with jitter, so that many agents do not come back at once. */
export interface Backoff {
  /**
   * The delay before the next attempt.
   *
   * @param retryMs what the relay asked for: it replaces the ceiling, within a tenth of a second and half a minute
   */
  nextMs(retryMs?: number): number;
  reset(): void;
}

const RETRY_AT_LEAST_MS = 100;
const RETRY_AT_MOST_MS = 30_000;

export function createBackoff({
  firstMs = 100,
  ceilingMs = 2_000,
  random = Math.random,
}: BackoffOptions = {}): Backoff {
  let step = firstMs;
  return {
    nextMs(retryMs) {
      const ceiling =
        retryMs === undefined ? ceilingMs : Math.min(Math.max(retryMs, RETRY_AT_LEAST_MS), RETRY_AT_MOST_MS);
      const delay = Math.min(step, ceiling);
      step = Math.min(step * 2, ceiling);
      return delay * (0.5 + random() / 2);
    },
    reset() {
      step = firstMs;
    },
  };
}
