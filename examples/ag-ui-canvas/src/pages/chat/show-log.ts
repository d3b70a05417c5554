import { element, renderKeyedList, setText } from "../../../../shared-canvas/src/page/keyed-list.ts";
import type { LogItem, StepItem } from "./conversation-log.ts";
import { type ProposalView, showProposal } from "./show-proposal.ts";

const stateWords: Readonly<Record<StepItem["state"], string>> = {
  working: "working",
  done: "done",
  declined: "left alone",
  refused: "refused, nothing written",
  failed: "failed",
  waiting: "waits for you",
  stopped: "stopped",
  accepted: "you accepted",
  rejected: "you rejected",
  expired: "nobody decided",
  stale: "changed meanwhile",
};

/** Shows the conversation, and stays at its end if that is where the person was. */
export function showLog(parent: HTMLElement, items: readonly LogItem[], proposals: ProposalView): void {
  const scroller = parent.parentElement;
  const atEnd =
    scroller !== null && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < scroller.clientHeight / 4;
  renderKeyedList({
    parent,
    items,
    keyOf: ({ key }) => key,
    create: (item) => create(item),
    update(row, item) {
      if (item.kind === "step") updateStep(row, item);
      else if (item.kind === "proposal") showProposal(row, item, proposals);
      else setText(row, item.text);
    },
  });
  if (atEnd) scroller.scrollTop = scroller.scrollHeight;
}

function create(item: LogItem): HTMLElement {
  const row = element("li", item.kind);
  if (item.kind !== "step") return row;
  const details = element("details", "");
  const summary = element("summary", "");
  summary.append(element("span", "step-name", item.name), element("span", "step-state"));
  details.append(summary, element("pre", ""));
  row.append(details);
  return row;
}

function updateStep(row: HTMLElement, { state, answer }: StepItem): void {
  row.className = `step step-${state}`;
  setText(row.querySelector(".step-state"), stateWords[state]);
  setText(row.querySelector("pre"), answer ?? "No answer yet.");
}
