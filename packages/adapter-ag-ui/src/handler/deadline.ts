import { unref } from "./at-most.ts";
import { AgUiRefusal } from "./refusal.ts";

/** How long a request may take, and whether anybody still waits for it. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The request was read: what takes long from now on is on this side. */
  wasRead(): void;
  /** Hears, of the last who asks, that the time is up or the client is gone. */
  onEnd(listener: (reason: EndReason) => void): void;
  clear(): void;
  /** Waits for an answer, but not longer than anybody does. */
  race(answer: Promise<Response>): Promise<Response>;
  /** Nobody is to wait any longer. */
  end(error: AgUiRefusal): void;
}

type EndReason = "time" | "gone";

export function createDeadline(client: AbortSignal, timeoutMs: number): Deadline {
  const abort = new AbortController();
  const { signal } = abort;
  let listener: ((reason: EndReason) => void) | undefined;
  let isRead = false;

  function late(reason: EndReason): void {
    abort.abort(new AgUiRefusal(isRead ? 504 : 408, "The request took too long"));
    listener?.(reason);
  }

  const onGone = () => late("gone");
  const timer = setTimeout(late, timeoutMs, "time");
  unref(timer);
  if (client.aborted) onGone();
  else client.addEventListener("abort", onGone, { once: true });

  return {
    signal,
    wasRead() {
      isRead = true;
    },
    onEnd(heard) {
      listener = heard;
    },
    clear() {
      clearTimeout(timer);
      client.removeEventListener("abort", onGone);
    },
    race: (answer) =>
      new Promise((resolve, reject) => {
        const giveUp = () => reject(signal.reason);
        answer.then(resolve, reject);
        if (signal.aborted) giveUp();
        signal.addEventListener("abort", giveUp);
      }),
    end: (error) => abort.abort(error),
  };
}
