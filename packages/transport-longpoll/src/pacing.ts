export interface PacingOptions {
  /** A number from 0 up to 1. @default Math.random */
  random?: (() => number) | undefined;
}

/** How long to rest between polls that bring nothing, judged by how long they took. */
export interface Pacing {
  /**
   * The rest after a poll without news, in milliseconds.
   *
   * @param tookMs how long it took
   * @param askedMs how long the relay was asked to wait
   */
  restMs(tookMs: number, askedMs: number): number;
  /** News came, or somebody new waits: what follows is likely to be near. */
  reset(): void;
}

const FIRST_MS = 100;
/** With the doubling before it, an exchange of 10 s with a relay that never waits makes at most 12 polls. */
const CEILING_MS = 2_500;
/** A poll that took this long was waited for, whatever had been asked. */
const LONG_MS = 1_000;
/** One that took less was not, even if less had been asked. */
const SHORT_MS = 250;

/** Doubling rests, each with jitter, so that many agents do not beat together. */
export function createPacing({ random = Math.random }: PacingOptions = {}): Pacing {
  let step = FIRST_MS;
  return {
    restMs(tookMs, askedMs) {
      const enough = askedMs === 0 ? LONG_MS : Math.min(LONG_MS, Math.max(SHORT_MS, askedMs / 2));
      if (tookMs >= enough) {
        step = FIRST_MS;
        return 0;
      }
      const rest = step * (0.75 + random() / 4) - tookMs;
      step = Math.min(step * 2, CEILING_MS);
      return Math.max(0, rest);
    },
    reset() {
      step = FIRST_MS;
    },
  };
}
