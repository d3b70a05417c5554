import type { AttachmentRow } from "./attachment.ts";
import { HumanPlusError } from "./error.ts";
import { limits } from "./gen/constants.ts";

export interface LockOptions {
  /** Gives up waiting; the lock then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Where attachments are kept. Several workers may share one. */
export interface AttachmentStore {
  get(id: string): Promise<AttachmentRow | undefined>;
  /**
   * Writes a row whole.
   *
   * @param expectedGeneration the generation that the stored row must have; 0: there must be none; absent: any
   * @throws HumanPlusError `attachment_conflict` when it is another one
   */
  put(row: AttachmentRow, expectedGeneration?: number): Promise<void>;
  /** Runs `task` while no other worker runs one for the same id. The lease is renewed as long as the task runs. */
  lock<T>(id: string, task: () => Promise<T>, options?: LockOptions): Promise<T>;
  delete(id: string): Promise<void>;
}

export interface MemoryAttachmentStoreOptions {
  /** How long an attachment lives without being written, in milliseconds. @default 86_400_000 */
  ttlMs?: number | undefined;
  /** @default Date.now */
  now?: (() => number) | undefined;
}

/** Keeps attachments in this process. */
export class MemoryAttachmentStore implements AttachmentStore {
  readonly #rows = new Map<string, AttachmentRow>();
  readonly #tails = new Map<string, Promise<void>>();
  readonly #ttlMs: number;
  readonly #now: () => number;

  constructor({ ttlMs = limits.attachmentTtlMs, now = Date.now }: MemoryAttachmentStoreOptions = {}) {
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  async get(id: string): Promise<AttachmentRow | undefined> {
    const row = this.#rows.get(id);
    if (row === undefined || row.updatedAt + this.#ttlMs > this.#now()) return row;
    this.#rows.delete(id);
    return undefined;
  }

  async put(row: AttachmentRow, expectedGeneration?: number): Promise<void> {
    const stored = await this.get(row.id);
    if (expectedGeneration !== undefined && (stored?.generation ?? 0) !== expectedGeneration) {
      throw new HumanPlusError("attachment_conflict", "another worker changed the attachment first");
    }
    this.#rows.delete(row.id); // rows stand in the order in which they were written, so the oldest is the first
    this.#rows.set(row.id, row);
    for (const [id, { updatedAt }] of this.#rows) {
      if (updatedAt + this.#ttlMs > this.#now()) break;
      this.#rows.delete(id);
    }
  }

  async lock<T>(id: string, task: () => Promise<T>, { signal }: LockOptions = {}): Promise<T> {
    signal?.throwIfAborted();
    const before = this.#tails.get(id) ?? Promise.resolve();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => done);
    this.#tails.set(id, tail);
    try {
      await abortable(before, signal);
      return await task();
    } finally {
      release();
      if (this.#tails.get(id) === tail) this.#tails.delete(id);
    }
  }

  async delete(id: string): Promise<void> {
    this.#rows.delete(id);
  }
}

function abortable(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, reject);
  });
}
