import { HumanPlusError, type Outcome } from "@human-plus/core";

export interface TimeoutOptions {
  /** What is waited for. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What becomes of it when it is no longer waited for. */
  readonly outcome: Outcome;
}

/** Waits for what cannot be stopped. @throws HumanPlusError `relay_timeout` or `aborted` when it is no longer waited for */
export function withTimeout<T>(promise: Promise<T>, { what, timeoutMs, signal, outcome }: TimeoutOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      stop();
      reject(new HumanPlusError("aborted", "the run was given up", { outcome }));
    };
    const timer = setTimeout(() => {
      stop();
      const message = `${what} took more than ${timeoutMs} ms`;
      reject(new HumanPlusError("relay_timeout", message, { outcome }));
    }, timeoutMs);
    signal.addEventListener("abort", onAbort);
    promise.finally(stop).then(resolve, reject);
    if (signal.aborted) onAbort();
  });
}
