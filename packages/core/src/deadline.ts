import { HumanPlusError } from "./error.ts";

/** How long one operation may still take, and what ends it before. */
export interface Deadline {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds that are left. @throws HumanPlusError `relay_timeout` or `aborted`, nothing having been sent */
  remainingMs(): number;
}

export interface DeadlineOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  now?: (() => number) | undefined;
}

export function createDeadline({ timeoutMs, signal, now = () => performance.now() }: DeadlineOptions): Deadline {
  const end = now() + timeoutMs;
  return {
    signal,
    remainingMs() {
      if (signal?.aborted === true)
        throw new HumanPlusError("aborted", "the operation was aborted before anything was sent", {
          outcome: "not_applied",
        });
      const left = end - now();
      if (left > 0) return left;
      throw new HumanPlusError("relay_timeout", `nothing could be sent within ${timeoutMs} ms`, {
        outcome: "not_applied",
        retryable: true,
      });
    },
  };
}
