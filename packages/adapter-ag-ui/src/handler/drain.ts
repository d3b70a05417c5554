import { atMost, nextTurn, STEPS_PER_TURN } from "./at-most.ts";

/** Reads something to its end for a while, and then leaves it. Failing is one way to end. */
export async function drain(iterator: AsyncIterator<unknown>, ms: number): Promise<void> {
  const until = performance.now() + ms;
  try {
    for (let step = 1; performance.now() < until; step++) {
      const next = await atMost(iterator.next(), until - performance.now());
      if (next?.done === true) return;
      if (next === undefined) break;
      if (step % STEPS_PER_TURN === 0) await nextTurn();
    }
  } catch {
    return;
  }
  void leave(iterator);
}

/** Whoever makes it may stop, and nobody hears how it goes. */
export async function leave(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // It was told to stop, and failing is one way to do so.
  }
}
