import { afterAll, afterEach, beforeAll, expect } from "vitest";

/**
 * How long what happens at once may take, in milliseconds: what a busy machine needs, and far less than any timeout of the handler
 * by default.
 */
export const AT_ONCE_MS = 5_000;

/**
 * Waits for something that has to happen within a bound. Bounds are what the README promises plus what a busy machine needs, so
 * that they tell "at its time" from "never", and not a fast machine from a slow one.
 *
 * @throws Error that says what did not happen
 */
export async function within<T>(ms: number, what: string, promise: Promise<T> | PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Counts rejections that nobody handles in this process, where servers run, and fails each test that has one. */
export function countUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => void unhandled.push(reason);
  beforeAll(() => void process.on("unhandledRejection", listen));
  afterEach(async () => {
    // Node tells of them after a turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled.splice(0)).toEqual([]);
  });
  afterAll(() => void process.off("unhandledRejection", listen));
}
