import { HumanPlusError } from "@human-plus/core";
import { endOnAbort } from "./tool-call.ts";

/** Lets calls of a set of tools through while the set may be used, and ends them when it is closed. */
export interface CallGate {
  /** @throws HumanPlusError `closed`, `tool_definition_changed` and what the task throws */
  run<T>(task: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T>;
  /** Why no call is let through, if so. */
  readonly disabled: HumanPlusError | undefined;
  disable(reason: HumanPlusError): void;
  enable(): void;
  readonly isClosed: boolean;
  /** Aborts what runs, and waits for it. */
  close(): Promise<void>;
}

export function createCallGate(): CallGate {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let disabled: HumanPlusError | undefined;

  const run = async <T>(task: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    if (closing.signal.aborted) throw closedError();
    if (disabled !== undefined) {
      const message = `the tools of this surface are disabled until its definitions are as pinned: ${disabled.message}`;
      throw new HumanPlusError("tool_definition_changed", message);
    }
    if (signal?.aborted === true) {
      throw new HumanPlusError("aborted", "the call was aborted before anything was sent", { outcome: "not_applied" });
    }
    const ending = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    try {
      return await endOnAbort(task(ending), ending);
    } catch (error) {
      const isOurs = closing.signal.aborted && error instanceof HumanPlusError && error.code === "aborted";
      throw isOurs ? closedError(error) : error;
    }
  };
  return {
    run(task, signal) {
      const call = run(task, signal);
      running.add(call);
      const settled = () => void running.delete(call);
      call.then(settled, settled);
      return call;
    },
    get disabled() {
      return disabled;
    },
    disable(reason) {
      disabled = reason;
    },
    enable() {
      disabled = undefined;
    },
    get isClosed() {
      return closing.signal.aborted;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

export function closedError(aborted?: HumanPlusError): HumanPlusError {
  const message = "this set of surface tools was closed";
  return new HumanPlusError("closed", message, { outcome: aborted?.outcome ?? "not_applied", cause: aborted });
}
