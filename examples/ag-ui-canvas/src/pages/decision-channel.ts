// What the pages of one person say to each other about proposals. Both are of one origin and in one browser, and nothing
// of it passes a server: an agent has no way to speak here.

/** A proposal as the canvas tells of it. */
export interface WaitingProposal {
  readonly id: string;
  /** What accepting it would do, in the canvas's words. */
  readonly summary: string;
}

/** How the canvas answered a decision. `unknown`: it has no such proposal, or none any more. */
export type DecisionOutcome = "accepted" | "rejected" | "expired" | "stale" | "unknown";

type DecisionMessage =
  /** From the chat: what waits? */
  | { readonly type: "ask" }
  /** From the canvas, when asked and whenever it changes. */
  | { readonly type: "waiting"; readonly proposals: readonly WaitingProposal[] }
  /** From the chat: its person clicked. */
  | { readonly type: "decide"; readonly id: string; readonly accept: boolean }
  /** From the canvas. */
  | { readonly type: "decided"; readonly id: string; readonly outcome: DecisionOutcome };

export interface DecisionChannel {
  send(message: DecisionMessage): void;
  listen(listener: (message: DecisionMessage) => void): void;
  close(): void;
}

export function openDecisionChannel(name = "ag-ui-canvas decisions"): DecisionChannel {
  const channel = new BroadcastChannel(name);
  return {
    send: (message) => channel.postMessage(message),
    listen(listener) {
      channel.addEventListener("message", ({ data }: MessageEvent<DecisionMessage>) => listener(data));
    },
    close: () => channel.close(),
  };
}
