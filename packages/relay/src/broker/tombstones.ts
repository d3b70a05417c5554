import { isSameHash } from "./token-hash.ts";

/** Sessions that ended, for a while: their ids may be opened again with the same token only. */
export class Tombstones {
  readonly #max: number;
  readonly #ageMs: number;
  readonly #ended = new Map<string, { readonly tokenHash: Uint8Array; readonly at: number }>(); // in the order ended

  constructor(max: number, ageMs: number) {
    this.#max = max;
    this.#ageMs = ageMs;
  }

  add(session: string, tokenHash: Uint8Array, now: number): void {
    this.#ended.delete(session);
    this.#ended.set(session, { tokenHash, at: now });
    for (const [oldest, { at }] of this.#ended) {
      if (this.#ended.size <= this.#max && now - at <= this.#ageMs) break;
      this.#ended.delete(oldest);
    }
  }

  /** Whether the id belonged to the holder of another token until a while ago. */
  isTaken(session: string, tokenHash: Uint8Array, now: number): boolean {
    const ended = this.#ended.get(session);
    return ended !== undefined && now - ended.at <= this.#ageMs && !isSameHash(ended.tokenHash, tokenHash);
  }

  delete(session: string): void {
    this.#ended.delete(session);
  }
}
