import { drain, leave } from "./drain.ts";
import { parsePrismEvent } from "./parse-prism-event.ts";
import type { PrismEvent } from "./prism-events.ts";

/** How long a session that was told to stop is listened to, in milliseconds. */
const DRAIN_MS = 10_000;

/**
 * A run of Prism events, such as `session.stream(input, { signal })` or `lifecycle.resumeStream(...)` gives, for versions 0.0.25
 * to 0.3.0. Types that are not known are read as `other`.
 *
 * Whoever stops early does not break the session off: it is read to its end, since a session whose reader leaves on its `error`
 * event leaves a rejection behind that ends a process of Node. So it takes the `signal` of the run to stop it.
 */
export function fromPrism(events: AsyncIterable<unknown>): AsyncIterableIterator<PrismEvent> {
  const iterator = events[Symbol.asyncIterator]();
  let isBegun = false;
  let isDone = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (isDone) return { done: true, value: undefined };
      isBegun = true;
      try {
        const { done, value } = await iterator.next();
        if (done !== true) return { done: false, value: parsePrismEvent(value) };
        isDone = true;
        return { done, value: undefined };
      } catch (error) {
        isDone = true;
        throw error;
      }
    },
    async return() {
      if (!isDone) {
        isDone = true;
        if (isBegun) void drain(iterator, DRAIN_MS);
        else void leave(iterator);
      }
      return { done: true, value: undefined };
    },
  };
}
