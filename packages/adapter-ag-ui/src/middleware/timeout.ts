import { HumanPlusError } from "@human-plus/core";

/** Waits for what cannot be stopped. @throws HumanPlusError `relay_timeout` or `aborted` when it is no longer waited for */
export function withTimeout<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      stop();
      reject(new HumanPlusError("aborted", "the run was given up", { outcome: "not_applied" }));
    };
    const timer = setTimeout(() => {
      stop();
      const message = `no surface was given within ${timeoutMs} ms`;
      reject(new HumanPlusError("relay_timeout", message, { outcome: "not_applied" }));
    }, timeoutMs);
    signal.addEventListener("abort", onAbort);
    promise.finally(stop).then(resolve, reject);
    if (signal.aborted) onAbort();
  });
}
