import type { Surface } from "@human-plus/surface";
import type { DecisionChannel, DecisionOutcome, WaitingProposal } from "../decision-channel.ts";

/**
 * Tells the person's chat what waits, and does what they clicked there. This is the host application: no tool reaches
 * `accept`, and the endpoint of the agent has no part in it.
 */
export function carryOutDecisions(
  surface: Pick<Surface, "getSnapshot" | "subscribe">,
  { send, listen }: DecisionChannel,
): void {
  let told = "";
  const waiting = (): WaitingProposal[] =>
    surface.getSnapshot().proposals.map(({ proposal: { id, summary } }) => ({ id, summary }));

  function decide(id: string, accept: boolean): DecisionOutcome {
    const pending = surface.getSnapshot().proposals.find(({ proposal }) => proposal.id === id);
    return (accept ? pending?.accept() : pending?.reject()) ?? "unknown";
  }

  surface.subscribe(() => {
    const proposals = waiting();
    const text = JSON.stringify(proposals);
    if (text === told) return;
    told = text;
    send({ type: "waiting", proposals });
  });
  listen((message) => {
    if (message.type === "ask") send({ type: "waiting", proposals: waiting() });
    if (message.type !== "decide") return;
    const { id, accept } = message;
    send({ type: "decided", id, outcome: decide(id, accept) });
  });
}
