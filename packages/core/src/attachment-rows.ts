import type { AttachmentRow, AttachmentState } from "./attachment.ts";
import type { AttachmentStore } from "./attachment-store.ts";
import type { Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import { MAX_TIMER_MS } from "./exchange/timer.ts";
import type { ErrorCode } from "./gen/types.ts";
import { type LinkName, linkIdOf } from "./link-state.ts";

/** Codes after which an attachment cannot be used any more. */
const TERMINAL: Partial<Record<ErrorCode, AttachmentState>> = {
  attachment_unauthorized: "attachment_unauthorized",
  surface_unavailable: "surface_unavailable",
};

export interface AttachmentRowsOptions {
  store: AttachmentStore;
  now: () => number;
  /** Drops what this process knows of a row that is of no more use; gives whether it knew anything. */
  forget: (row: LinkName) => boolean;
  /** Hears, once, that an attachment this process knew cannot be used any more. */
  onEnded: (id: string, state: AttachmentState) => void;
}

/** The rows of a store as operations use them: one operation at a time, and never over what others made of an attachment meanwhile. */
export class AttachmentRows {
  readonly #store: AttachmentStore;
  readonly #now: () => number;
  readonly #forget: AttachmentRowsOptions["forget"];
  readonly #onEnded: AttachmentRowsOptions["onEnded"];
  /** Who waits for a lock. */
  readonly #waiting = new Set<AbortController>();
  #isClosed = false;

  constructor({ store, now, forget, onEnded }: AttachmentRowsOptions) {
    this.#store = store;
    this.#now = now;
    this.#forget = forget;
    this.#onEnded = onEnded;
  }

  /** Runs a task with the row as it is once no other worker holds the attachment. */
  async locked<T>(row: AttachmentRow, deadline: Deadline, task: (row: AttachmentRow) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError();
    const waiting = new AbortController();
    const busy = new HumanPlusError("attachment_busy", "another call held the attachment until the time was over");
    const timer = setTimeout(() => waiting.abort(busy), Math.min(deadline.remainingMs(), MAX_TIMER_MS));
    const onAbort = () =>
      waiting.abort(
        new HumanPlusError("aborted", "the operation was aborted before anything was sent", { outcome: "not_applied" }),
      );
    deadline.signal?.addEventListener("abort", onAbort, { once: true });
    this.#waiting.add(waiting);
    const started = () => {
      this.#waiting.delete(waiting);
      clearTimeout(timer);
      deadline.signal?.removeEventListener("abort", onAbort);
    };
    const run = async () => {
      started();
      return await task(await this.#reload(row));
    };
    let running: Promise<T> | undefined;
    const start = () => {
      running = run();
      return running;
    };
    try {
      return await this.#store.lock(row.id, start, { signal: waiting.signal }).catch((error: unknown) => {
        // A lease that was lost, or that cannot be given back, does not change what became of the call.
        if (running === undefined) throw error;
        return running;
      });
    } catch (error) {
      // Nor does a store that fails.
      await this.recordEnd(row, error).catch(() => undefined);
      throw error;
    } finally {
      started();
    }
  }

  /** Ends the waiting of those who wait. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.abort(closedError());
  }

  async #reload(row: AttachmentRow): Promise<AttachmentRow> {
    const current = await this.#store.get(row.id);
    if (current === undefined || linkIdOf(current) !== linkIdOf(row) || current.state !== "attached") {
      this.#forget(row);
      throw new HumanPlusError("attachment_conflict", "the attachment was changed while this call waited for it");
    }
    return current;
  }

  /** Records what ended an attachment, if the error says that something did. */
  async recordEnd(row: LinkName, error: unknown): Promise<void> {
    const state = error instanceof HumanPlusError ? TERMINAL[error.code] : undefined;
    if (state === undefined) return;
    const wasKnown = this.#forget(row);
    try {
      const current = await this.#store.get(row.id);
      if (current !== undefined && linkIdOf(current) === linkIdOf(row) && current.state === "attached")
        await this.end(current, state);
    } finally {
      if (wasKnown) this.#onEnded(row.id, state);
    }
  }

  /**
   * Writes how an attachment ended. That is a generation of its own, so that what calls under way observed is not written
   * over it, by no worker. Where somebody else ended it first, it has ended.
   */
  async end(row: AttachmentRow, state: AttachmentState): Promise<void> {
    try {
      await this.#write({ ...row, state, generation: row.generation + 1 }, row.generation);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const stored = await this.#store.get(row.id);
      if (stored !== undefined && linkIdOf(stored) !== linkIdOf(row)) throw error;
    }
  }

  /** Writes what was observed, unless the attachment ended or began another generation meanwhile: then nobody needs it any more. */
  async put(row: AttachmentRow): Promise<void> {
    const stored = await this.#store.get(row.id);
    if (stored === undefined || linkIdOf(stored) !== linkIdOf(row) || stored.generation !== row.generation) return;
    try {
      await this.#write(row, row.generation);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  #write(row: AttachmentRow, expectedGeneration: number): Promise<void> {
    return this.#store.put({ ...row, updatedAt: this.#now() }, expectedGeneration);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof HumanPlusError && error.code === "attachment_conflict";
}

function closedError(): HumanPlusError {
  return new HumanPlusError("closed", "this client was closed before anything was sent", { outcome: "not_applied" });
}
