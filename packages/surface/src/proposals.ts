import type { ProposalOutcome, ProposalState } from "@human-plus/core/protocol";
import type { Change } from "./change.ts";
import { ToolError } from "./tool-error.ts";

/** A write that waits for a person. */
export interface Proposal {
  /** Unguessable. */
  readonly id: string;
  readonly tool: string;
  /** Whose proposal it is, if the agent said so. */
  readonly participantId: string | undefined;
  /** What it would do, in the words of the application. */
  readonly summary: string;
  readonly changes: readonly Change[];
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A proposal and the only way to decide it. It belongs to the application; no tool reaches it. */
export interface PendingProposal {
  readonly proposal: Proposal;
  /** Checks the pin again and applies. `stale` says that what it touches changed since: nothing was written. */
  accept(): ProposalState;
  /** @param reason is sent to the session's agents: at most 1,024 characters, nothing private */
  reject(reason?: string): ProposalState;
}

export interface Proposals {
  /**
   * @param write applies it, and returns false if its pin no longer holds
   * @throws ToolError when too many wait already
   */
  add(proposal: Omit<Proposal, "id" | "expiresAt">, write: () => boolean): Proposal;
  list(): PendingProposal[];
  age(time: number): number;
}

export interface ProposalsOptions {
  /** How many may wait at a time. */
  readonly max: number;
  readonly ttlMs: number;
  readonly now: () => number;
  readonly createId: () => string;
  /** Throws while a tool runs: tools do not decide. */
  readonly assertHost: () => void;
  readonly onChange: () => void;
  readonly onEnd: (proposal: Proposal, outcome: ProposalOutcome) => void;
}

const MAX_REASON = 1_024;

export function createProposals(options: ProposalsOptions): Proposals {
  const { max, ttlMs, now, createId, assertHost, onChange, onEnd } = options;
  const pending = new Map<string, PendingProposal>();
  /** How the ended ones ended, for whoever still holds one. */
  const ended = new WeakMap<Proposal, ProposalState>();

  function end(proposal: Proposal, state: ProposalState, reason?: string): ProposalState {
    pending.delete(proposal.id);
    ended.set(proposal, state);
    onChange();
    onEnd(proposal, { id: proposal.id, state, ...(reason && { reason: reason.slice(0, MAX_REASON) }) });
    return state;
  }

  /** Ends it unless it has ended already. */
  function decide(proposal: Proposal, how: () => ProposalState): ProposalState {
    assertHost();
    if (now() >= proposal.expiresAt && !ended.has(proposal)) end(proposal, "expired");
    return ended.get(proposal) ?? how();
  }

  function accept(proposal: Proposal, write: () => boolean): ProposalState {
    ended.set(proposal, "accepted"); // whoever hears of the commit finds it decided
    let written: boolean;
    try {
      written = write();
    } catch (error) {
      ended.delete(proposal);
      throw error;
    }
    return end(proposal, written ? "accepted" : "stale");
  }

  return {
    add(parts, write) {
      if (pending.size >= max) throw new ToolError("Too many proposals wait for a person. Nothing was proposed.");
      const proposal: Proposal = { ...parts, id: createId(), expiresAt: now() + ttlMs };
      pending.set(proposal.id, {
        proposal,
        accept: () => decide(proposal, () => accept(proposal, write)),
        reject: (reason) => decide(proposal, () => end(proposal, "rejected", reason)),
      });
      onChange();
      return proposal;
    },
    list: () => [...pending.values()],
    age(time) {
      for (const { proposal } of pending.values()) {
        if (proposal.expiresAt > time) return proposal.expiresAt; // they expire in the order in which they came
        if (!ended.has(proposal)) end(proposal, "expired");
      }
      return Number.POSITIVE_INFINITY;
    },
  };
}
