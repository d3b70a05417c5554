import { RecentMap } from "../recent-map.ts";
import { texts } from "./call-text.ts";
import type { PendingProposal } from "./proposal-desk.ts";
import { NameMeanings } from "./tool-names.ts";

/** A call of a tool, as a run streams it. */
export interface CallIdentity {
  readonly id: string;
  readonly name: string;
  readonly args: string | undefined;
}

const MAX_ANSWERS = 64;
const MAX_CHARACTERS = 262_144;
const MAX_PENDING = 32;
/** Calls that were made are known for longer than their answers are kept. */
const MAX_MADE = 4_096;
const MAX_MADE_CHARACTERS = 1_048_576;

/** What is kept of one thread between its runs: answers to calls, so that none is made twice, proposals that wait, and what names of tools mean. */
export class ThreadMemory {
  readonly #answers = new Map<string, string>();
  readonly #made = new Set<string>();
  readonly #running = new Map<string, Promise<string>>();
  readonly names: NameMeanings = new NameMeanings();
  /** Proposals that wait for a person, by interrupt. */
  readonly pending: RecentMap<string, PendingProposal> = new RecentMap(MAX_PENDING, (proposal) => this.#drop(proposal));
  /** Proposals whose end is news: those that wait, and those that a run is just settling. */
  readonly #listening = new Set<PendingProposal>();
  #characters = 0;
  #madeCharacters = 0;

  /**
   * Makes a call, unless it was made before: then its answer is the same again. Two deliveries at a time are one call.
   * The same id with another tool or other arguments is another call.
   */
  async once(call: CallIdentity, make: () => Promise<string>): Promise<string> {
    const key = keyOf(call);
    const known = this.#known(key);
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

  /** What can be said of a call that was made, or is being made: its answer, if that is still kept. */
  answerOf(call: CallIdentity): string | undefined {
    const key = keyOf(call);
    return this.#known(key) ?? (this.#running.has(key) ? texts.underWay : undefined);
  }

  remember(call: CallIdentity, answer: string): void {
    const key = keyOf(call);
    this.#forget(key);
    this.#markMade(key);
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

  #known(key: string): string | undefined {
    return this.#answers.get(key) ?? (this.#made.has(key) ? texts.madeBefore : undefined);
  }

  #drop(proposal: PendingProposal): void {
    this.#listening.delete(proposal);
    proposal.release();
  }

  #markMade(key: string): void {
    if (!this.#made.delete(key)) this.#madeCharacters += key.length;
    this.#made.add(key);
    for (const oldest of this.#made) {
      if (this.#made.size <= MAX_MADE && this.#madeCharacters <= MAX_MADE_CHARACTERS) break;
      this.#made.delete(oldest);
      this.#madeCharacters -= oldest.length;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#characters -= this.#answers.get(key)?.length ?? 0;
    this.#answers.delete(key);
  }
}

function keyOf({ id, name, args = "" }: CallIdentity): string {
  return JSON.stringify([id, name, args]);
}
