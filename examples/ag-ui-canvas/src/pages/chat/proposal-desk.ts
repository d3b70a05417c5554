import type { DecisionChannel, DecisionOutcome, WaitingProposal } from "../decision-channel.ts";

/** What the chat knows of proposals, from the canvas itself. */
export interface ProposalDesk {
  /** Nothing before the canvas has told of it, and nothing once it is gone. */
  find(id: string): WaitingProposal | undefined;
  /** It was there once, and is not any more: it was decided at the canvas, or its time was over. */
  isGone(id: string): boolean;
  /** Hands on what the person clicked, and says what became of it: `unknown` from a canvas that does not answer. */
  decide(id: string, accept: boolean): Promise<DecisionOutcome>;
  /** Calls back when something changed. */
  subscribe(listener: () => void): void;
}

/** @param answerTimeoutMs how long the canvas may take to answer, in milliseconds */
export function openProposalDesk({ send, listen }: DecisionChannel, answerTimeoutMs = 5_000): ProposalDesk {
  const seen = new Map<string, WaitingProposal | undefined>();
  const deciding = new Map<string, (outcome: DecisionOutcome) => void>();
  const listeners = new Set<() => void>();
  listen((message) => {
    if (message.type === "decided") {
      deciding.get(message.id)?.(message.outcome);
      deciding.delete(message.id);
    }
    if (message.type !== "waiting") return;
    for (const id of seen.keys()) seen.set(id, undefined);
    for (const proposal of message.proposals) seen.set(proposal.id, proposal);
    for (const listener of listeners) listener();
  });
  send({ type: "ask" });
  return {
    find: (id) => seen.get(id),
    isGone: (id) => seen.has(id) && seen.get(id) === undefined,
    decide(id, accept) {
      const { promise, resolve } = Promise.withResolvers<DecisionOutcome>();
      deciding.set(id, resolve);
      setTimeout(() => resolve("unknown"), answerTimeoutMs);
      send({ type: "decide", id, accept });
      return promise;
    },
    subscribe: (listener) => void listeners.add(listener),
  };
}
