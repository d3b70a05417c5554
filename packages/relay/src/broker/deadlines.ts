import type { Clock } from "./clock.ts";

/** Something that is due once. It is a member of at most one bucket at a time. */
export interface Deadline {
  /** The bucket it waits in; `0` when it waits in none. Written by {@link Deadlines} only. */
  bucket: number;
  expire(): void;
}

/** How much later than asked a deadline may fire, in milliseconds. */
const GRANULARITY_MS = 20;

/**
 * Any number of deadlines on one timer. Ten thousand parked polls then cost a set entry each, and no timer of their
 * own; those that are due together fire together.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Set<Deadline>>();
  #armedFor = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets a deadline, or moves it. */
  set(deadline: Deadline, delayMs: number): void {
    this.clear(deadline);
    const bucket = Math.max(1, Math.ceil((this.#clock.now() + Math.max(0, delayMs)) / GRANULARITY_MS));
    const members = this.#buckets.get(bucket);
    if (members === undefined) this.#buckets.set(bucket, new Set([deadline]));
    else members.add(deadline);
    deadline.bucket = bucket;
    if (this.#armedFor === 0 || bucket < this.#armedFor) this.#arm(bucket);
  }

  clear(deadline: Deadline): void {
    if (deadline.bucket === 0) return;
    const members = this.#buckets.get(deadline.bucket);
    members?.delete(deadline);
    if (members?.size === 0) this.#buckets.delete(deadline.bucket);
    deadline.bucket = 0;
  }

  /** Forgets all deadlines and the timer. */
  close(): void {
    for (const members of this.#buckets.values()) for (const deadline of members) deadline.bucket = 0;
    this.#buckets.clear();
    this.#cancel?.();
    this.#armedFor = 0;
  }

  #arm(bucket: number): void {
    this.#cancel?.();
    this.#armedFor = bucket;
    this.#cancel = this.#clock.schedule(Math.max(0, bucket * GRANULARITY_MS - this.#clock.now()), this.#fire);
  }

  readonly #fire = (): void => {
    this.#armedFor = 0;
    this.#cancel = undefined;
    const current = Math.floor(this.#clock.now() / GRANULARITY_MS);
    for (const bucket of [...this.#buckets.keys()].filter((key) => key <= current).sort((a, b) => a - b)) {
      const members = this.#buckets.get(bucket);
      this.#buckets.delete(bucket);
      for (const deadline of members ?? []) {
        if (deadline.bucket !== bucket) continue; // cleared or moved by one that fired before it
        deadline.bucket = 0;
        deadline.expire();
      }
    }
    let next = 0;
    for (const bucket of this.#buckets.keys()) if (next === 0 || bucket < next) next = bucket;
    if (next !== 0 && (this.#armedFor === 0 || next < this.#armedFor)) this.#arm(next);
  };
}
