import type { DecisionChannel, DecisionOutcome, WaitingProposal } from "../decision-channel.ts";

/** What the chat knows of proposals, from the canvas itself. */
export interface ProposalDesk {
  /** Nothing before the canvas has told of it, and nothing once it is gone. */
  find(id: string): WaitingProposal | undefined;
  /** It was there once, and is not any more: it was decided at the canvas, or its time was over. */
  isGone(id: string): boolean;
  /** Hands on what the person clicked. Resolves when the canvas says what became of it. */
  decide(id: string, accept: boolean): Promise<DecisionOutcome>;
  /** Calls back when something changed. */
  subscribe(listener: () => void): void;
}

export function openProposalDesk({ send, listen }: DecisionChannel): ProposalDesk {
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
      send({ type: "decide", id, accept });
      return promise;
    },
    subscribe: (listener) => void listeners.add(listener),
  };
}
