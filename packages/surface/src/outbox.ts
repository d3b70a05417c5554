import { jsonRpcVersion, limits, rpcErrorCodes } from "@human-plus/core/protocol";
import { backoffMs, sleep } from "./backoff.ts";
import type { Answer } from "./relay-client.ts";

export interface Outbox {
  push(frame: string): void;
}

export interface OutboxOptions {
  readonly send: (frame: string) => Promise<Answer>;
  /** The session has to be registered again. */
  readonly register: () => Promise<unknown>;
  readonly signal: AbortSignal;
  readonly minBackoffMs: number;
  readonly maxBackoffMs: number;
}

/**
 * Sends frames one after another, so that agents read them in the order in which they were made. A frame is sent again
 * if it may not have arrived: a relay hands on a response only once, and notifications may come twice.
 */
export function createOutbox({ send, register, signal, minBackoffMs, maxBackoffMs }: OutboxOptions): Outbox {
  const queue: { frame: string; readonly until: number }[] = [];
  let pumping = false;

  async function pump(): Promise<void> {
    pumping = true;
    let failures = 0;
    for (let first = queue[0]; first !== undefined && !signal.aborted; first = queue[0]) {
      const answer = await send(first.frame);
      if (answer === "unknown") await register();
      if ((answer === "unknown" || answer === "later") && Date.now() < first.until) {
        await sleep(backoffMs(failures++, minBackoffMs, maxBackoffMs), signal);
        continue;
      }
      failures = 0;
      if (queue[0] === first) queue.shift();
      if (answer === "too_large") replaceResponse(first.frame);
    }
    pumping = false;
  }

  /** A relay may carry less than the contract says; whoever waits for the answer is told. */
  function replaceResponse(frame: string): void {
    const { id } = JSON.parse(frame) as { id?: unknown };
    if (id === undefined || frame.length < 1_024) return;
    const message = "The result is larger than a relay carries. What the call wrote, if anything, stays written.";
    push(JSON.stringify({ jsonrpc: jsonRpcVersion, id, error: { code: rpcErrorCodes.internalError, message } }));
  }

  function push(frame: string): void {
    queue.push({ frame, until: Date.now() + limits.exchangeTimeoutMs });
    if (queue.length > limits.inFlightRequests) queue.shift();
    if (!pumping) void pump();
  }

  return { push };
}
