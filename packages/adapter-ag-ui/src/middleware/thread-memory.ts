import { RecentMap } from "../recent-map.ts";
import type { PendingProposal } from "./proposal-desk.ts";

/** A call of a tool, as a run streams it. */
export interface CallIdentity {
  readonly id: string;
  readonly name: string;
  readonly args: string | undefined;
}

const MAX_ANSWERS = 64;
const MAX_CHARACTERS = 262_144;
const MAX_PENDING = 32;

/** What is kept of one thread between its runs: answers to calls, so that none is made twice, and proposals that wait. */
export class ThreadMemory {
  readonly #answers = new Map<string, string>();
  readonly #running = new Map<string, Promise<string>>();
  /** Proposals that wait for a person, by interrupt. */
  readonly pending: RecentMap<string, PendingProposal> = new RecentMap(MAX_PENDING, (proposal) => this.#drop(proposal));
  /** Proposals whose end is news: those that wait, and those that a run is just settling. */
  readonly #listening = new Set<PendingProposal>();
  #characters = 0;

  /**
   * Makes a call, unless it was made before: then its answer is the same again. Two deliveries at a time are one call.
   * The same id with another tool or other arguments is another call.
   */
  async once(call: CallIdentity, make: () => Promise<string>): Promise<string> {
    const key = keyOf(call);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const running = this.#running.get(key) ?? make();
    this.#running.set(key, running);
    try {
      const answer = await running;
      this.remember(call, answer);
      return answer;
    } finally {
      this.#running.delete(key);
    }
  }

  answerOf(call: CallIdentity): string | undefined {
    return this.#answers.get(keyOf(call));
  }

  remember(call: CallIdentity, answer: string): void {
    const key = keyOf(call);
    this.#forget(key);
    if (answer.length > MAX_CHARACTERS) return;
    this.#answers.set(key, answer);
    this.#characters += answer.length;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS && this.#characters <= MAX_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  wait(proposal: PendingProposal): void {
    this.#listening.add(proposal);
    this.pending.set(proposal.interrupt.id, proposal);
  }

  /** A proposal is settled: its end is no news any more. */
  settled(proposal: PendingProposal, answer: string): void {
    this.#drop(proposal);
    this.remember(proposal.call, answer);
  }

  ended(proposalId: string | undefined, end: NonNullable<PendingProposal["ended"]>): void {
    for (const proposal of this.#listening) {
      if (proposal.proposalId !== proposalId) continue;
      proposal.ended = end;
      proposal.onEnd?.();
    }
  }

  /** Lets go of everything that is held open. */
  close(): void {
    for (const proposal of this.#listening) this.#drop(proposal);
  }

  #drop(proposal: PendingProposal): void {
    this.#listening.delete(proposal);
    proposal.release();
  }

  #forget(key: string): void {
    this.#characters -= this.#answers.get(key)?.length ?? 0;
    this.#answers.delete(key);
  }
}

function keyOf({ id, name, args = "" }: CallIdentity): string {
  return JSON.stringify([id, name, args]);
}
