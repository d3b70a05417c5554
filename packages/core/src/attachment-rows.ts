import type { AttachmentRow, AttachmentState } from "./attachment.ts";
import type { AttachmentStore } from "./attachment-store.ts";
import type { Deadline } from "./deadline.ts";
import { HumanPlusError } from "./error.ts";
import type { ErrorCode } from "./gen/types.ts";
import { type LinkName, linkIdOf } from "./link-state.ts";

/** Codes after which an attachment cannot be used any more. */
const TERMINAL: Partial<Record<ErrorCode, AttachmentState>> = {
  attachment_unauthorized: "attachment_unauthorized",
  surface_unavailable: "surface_unavailable",
};

/** Timers of the platform take no more, and fire at once when they are asked for more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

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

  constructor({ store, now, forget, onEnded }: AttachmentRowsOptions) {
    this.#store = store;
    this.#now = now;
    this.#forget = forget;
    this.#onEnded = onEnded;
  }

  /** Runs a task with the row as it is once no other worker holds the attachment. */
  async locked<T>(row: AttachmentRow, deadline: Deadline, task: (row: AttachmentRow) => Promise<T>): Promise<T> {
    const waiting = new AbortController();
    const busy = new HumanPlusError("attachment_busy", "another call held the attachment until the time was over");
    const timer = setTimeout(() => waiting.abort(busy), Math.min(deadline.remainingMs(), MAX_TIMER_MS));
    const onAbort = () =>
      waiting.abort(
        new HumanPlusError("aborted", "the operation was aborted before anything was sent", { outcome: "not_applied" }),
      );
    deadline.signal?.addEventListener("abort", onAbort, { once: true });
    const started = () => {
      clearTimeout(timer);
      deadline.signal?.removeEventListener("abort", onAbort);
    };
    try {
      return await this.#store.lock(
        row.id,
        async () => {
          started();
          return await task(await this.#reload(row));
        },
        { signal: waiting.signal },
      );
    } catch (error) {
      await this.recordEnd(row, error);
      throw error;
    } finally {
      started();
    }
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
    const current = await this.#store.get(row.id);
    if (current !== undefined && linkIdOf(current) === linkIdOf(row) && current.state === "attached")
      await this.put({ ...current, state });
    if (wasKnown) this.#onEnded(row.id, state);
  }

  /**
   * Writes a row unless the attachment began another generation meanwhile: then nobody needs it any more. What ended the
   * attachment while a call ran (a detach, a mark, another worker) is not taken back by what the call observed.
   */
  async put(row: AttachmentRow): Promise<void> {
    const stored = await this.#store.get(row.id);
    if (stored === undefined || linkIdOf(stored) !== linkIdOf(row)) return;
    const state = stored.state === "attached" ? row.state : stored.state;
    try {
      await this.#store.put({ ...row, state, updatedAt: this.#now() }, row.generation);
    } catch (error) {
      if (!(error instanceof HumanPlusError && error.code === "attachment_conflict")) throw error;
    }
  }
}
