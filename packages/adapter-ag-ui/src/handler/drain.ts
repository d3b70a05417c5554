import { atMost } from "./at-most.ts";

/** Reads something to its end for a while, and then leaves it. Failing is one way to end. */
export async function drain(iterator: AsyncIterator<unknown>, ms: number): Promise<void> {
  const until = performance.now() + ms;
  try {
    for (;;) {
      const next = await atMost(iterator.next(), Math.max(0, until - performance.now()));
      if (next?.done === true) return;
      if (next === undefined) break;
    }
  } catch {
    return;
  }
  leave(iterator);
}

/** Whoever makes it may stop, and nobody hears how it goes. */
export function leave(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}
