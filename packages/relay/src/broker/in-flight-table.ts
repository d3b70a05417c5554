import type { RequestId } from "@human-plus/core/protocol";

interface InFlight<Asker> {
  readonly asker: Asker;
  readonly at: number;
}

/**
 * Who asked what, for one session. An id stands for one unanswered request of the session, whoever sent it: the
 * surface sees ids without clients, so two requests with one id could not be told apart by their answers.
 */
export class InFlightTable<Asker> {
  readonly #byId = new Map<RequestId, InFlight<Asker>>(); // in the order asked; 1 and "1" are two ids

  get size(): number {
    return this.#byId.size;
  }

  /**
   * Remembers who asked.
   *
   * @param max how many requests may be in flight
   * @param maxAgeMs a request older than this is forgotten when its place or its id is needed, and only then
   */
  add(
    id: RequestId,
    asker: Asker,
    now: number,
    max: number,
    maxAgeMs: number,
  ): "added" | "request_id_in_flight" | "too_many_in_flight" {
    const known = this.#byId.get(id);
    if (known !== undefined) {
      if (now - known.at <= maxAgeMs) return "request_id_in_flight";
      this.#byId.delete(id);
    }
    if (this.#byId.size >= max && !this.#dropOldest(now, maxAgeMs)) return "too_many_in_flight";
    this.#byId.set(id, { asker, at: now });
    return "added";
  }

  /** Who asked, once: the next answer with this id is nobody's. */
  take(id: RequestId): Asker | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined) this.#byId.delete(id);
    return known?.asker;
  }

  /** Nobody waits for the answers to this asker any more. */
  forget(asker: Asker): void {
    for (const [id, inFlight] of this.#byId) if (inFlight.asker === asker) this.#byId.delete(id);
  }

  #dropOldest(now: number, maxAgeMs: number): boolean {
    for (const [id, { at }] of this.#byId) {
      if (now - at <= maxAgeMs) return false;
      return this.#byId.delete(id);
    }
    return false;
  }
}
