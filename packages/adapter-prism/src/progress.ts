import type { CallProgress } from "@human-plus/core";
import { boundText } from "./bounded-text.ts";
import type { ToolExecutionContext } from "./host.ts";
import { plainText } from "./plain-text.ts";

/** Steps that wait for a slow host. The oldest give way. */
const MAX_WAITING = 32;
const MAX_MESSAGE_BYTES = 4096;
/** How long a call that has ended waits for the host to take the steps before its end. */
const FLUSH_MS = 1000;

/** Hands steps to the host one after another, each awaited, and none once it has ended. */
export interface ProgressRelay {
  push(progress: CallProgress): void;
  /** Ends it once the steps that came were handed on, or at once on abort. */
  end(signal: AbortSignal | undefined): Promise<void>;
}

export function createProgressRelay(
  report: NonNullable<ToolExecutionContext["progress"]>,
  tool: string,
): ProgressRelay {
  const waiting: CallProgress[] = [];
  let hasEnded = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    for (let step = waiting.shift(); step !== undefined && !hasEnded; step = waiting.shift()) {
      try {
        await report(payload(step), { humanplus: { tool } });
      } catch {
        // A host that cannot take progress gets no more of it; the call goes on.
        hasEnded = true;
      }
    }
    running = undefined;
  };
  return {
    push(step) {
      if (hasEnded) return;
      waiting.push(step);
      if (waiting.length > MAX_WAITING) waiting.shift();
      running ??= run();
    },
    async end(signal) {
      if (running !== undefined && signal?.aborted !== true) await waitFor(running, signal);
      hasEnded = true;
      waiting.length = 0;
    },
  };
}

/** Small plain JSON: numbers, and the surface's words in their frame. */
function payload({ progress, total, message }: CallProgress): Record<string, unknown> {
  return {
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: boundText(plainText(message), MAX_MESSAGE_BYTES) }),
  };
}

/** Waits for work, but not for longer than the bound, and not past an abort. */
async function waitFor(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FLUSH_MS);
  const onAbort = () => resolve();
  signal?.addEventListener("abort", onAbort, { once: true });
  await Promise.race([work, released]);
  clearTimeout(timer);
  signal?.removeEventListener("abort", onAbort);
}
