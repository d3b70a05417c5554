import { element, setText } from "../../../../shared-canvas/src/page/keyed-list.ts";
import type { WaitingProposal } from "../decision-channel.ts";
import type { ProposalItem } from "./conversation-log.ts";

export interface ProposalView {
  /** The canvas's own words for it: what an agent says of a proposal is not what a person accepts. */
  find(id: string): WaitingProposal | undefined;
  /** The person clicked, and the answer is on its way. */
  isAnswered(item: ProposalItem): boolean;
  onDecide(item: ProposalItem, accept: boolean): void;
  /** The canvas is not there: go on without a decision. */
  onSkip(item: ProposalItem): void;
}

/** Shows a proposal and its buttons. Without the canvas's word for what it is, it cannot be accepted. */
export function showProposal(row: HTMLElement, item: ProposalItem, view: ProposalView): void {
  if (row.childElementCount === 0) fill(row, item, view);
  const proposal = view.find(item.proposalId);
  const isAnswered = view.isAnswered(item);
  setText(row.querySelector(".proposal-summary"), proposal?.summary ?? "A proposal waits on the canvas");
  setText(
    row.querySelector(".hint"),
    proposal === undefined && !isAnswered ? "Open the canvas to decide." : "Tidy proposes it, and only you decide.",
  );
  row.setAttribute("aria-label", `Proposal: ${proposal?.summary ?? "unknown"}`);
  for (const [name, isShown] of [
    ["accept", proposal !== undefined || isAnswered],
    ["reject", proposal !== undefined || isAnswered],
    ["skip", proposal === undefined && !isAnswered],
  ] as const) {
    const button = row.querySelector<HTMLButtonElement>(`.${name}`);
    if (button === null) continue;
    button.hidden = !isShown;
    button.disabled = isAnswered;
  }
}

function fill(row: HTMLElement, item: ProposalItem, { onDecide, onSkip }: ProposalView): void {
  const buttons = element("div", "proposal-buttons");
  buttons.append(
    button("accept primary", "Accept", () => onDecide(item, true)),
    button("reject", "Reject", () => onDecide(item, false)),
    button("skip", "Go on without deciding", () => onSkip(item)),
  );
  row.setAttribute("role", "group");
  row.append(element("p", "proposal-summary"), element("p", "hint"), buttons);
}

/** Only a click by hand counts: a script's does not decide for a person. */
function button(className: string, text: string, onClick: () => void): HTMLButtonElement {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", ({ isTrusted }) => {
    if (isTrusted) onClick();
  });
  return made;
}
