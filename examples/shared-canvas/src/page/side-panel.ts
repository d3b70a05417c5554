import type { Participant, PendingProposal, SurfaceSnapshot } from "@human-plus/surface";
import { type ActivityLine, toActivityLines, type Visit } from "./activity-lines.ts";
import { colorOf } from "./agent-color.ts";
import { element, renderKeyedList, setText } from "./keyed-list.ts";

export interface SidePanel {
  participants: HTMLElement;
  /** Shown only while something waits. */
  waiting: HTMLElement;
  proposals: HTMLElement;
  log: HTMLElement;
}

/** Shows who is here, what waits for a person, and what happened. Gives back what takes the next snapshot. */
export function showSidePanel(panel: SidePanel, now: () => number = Date.now): (snapshot: SurfaceSnapshot) => void {
  const visits: Visit[] = [];
  const present = new Map<string, { name: string; isHere: boolean }>();

  function noticeVisits(participants: readonly Participant[]): void {
    for (const { id, name, connected } of participants) {
      const known = present.get(id);
      if (name === undefined || (known === undefined ? !connected : known.isHere === connected)) continue;
      visits.push({ type: connected ? "joined" : "left", at: now(), by: name });
      present.set(id, { name, isHere: connected });
    }
  }

  return ({ participants, history, proposals }) => {
    noticeVisits(participants);
    const here = participants.filter(({ connected, name }) => connected && name !== undefined);
    renderKeyedList({
      parent: panel.participants,
      items: ["you", ...here.toSorted((a, b) => (a.id < b.id ? -1 : 1))],
      keyOf: (item) => (typeof item === "string" ? item : `agent ${item.id}`),
      create: createParticipant,
      update: (row, item) => typeof item !== "string" && updateParticipant(row, item),
    });
    panel.waiting.hidden = proposals.length === 0;
    renderKeyedList({
      parent: panel.proposals,
      items: proposals,
      keyOf: ({ proposal }) => proposal.id,
      create: (item) =>
        createProposal(
          item,
          participants.find(({ id }) => id === item.proposal.participantId),
        ),
      update: () => undefined,
    });
    renderKeyedList({
      parent: panel.log,
      items: toActivityLines(history, visits).toReversed(),
      keyOf: ({ key }) => key,
      create: createLine,
      update: updateLine,
    });
  };
}

function createParticipant(item: Participant | string): HTMLElement {
  const row = element("li", "participant");
  const words = element("span", "participant-words");
  words.append(element("span", "participant-name", "You"), element("span", "participant-activity"));
  row.append(element("span", typeof item === "string" ? "dot dot-you" : "dot"), words);
  return row;
}

function updateParticipant(row: HTMLElement, participant: Participant): void {
  row.style.setProperty("--agent", colorOf(participant));
  setText(row.querySelector(".participant-name"), participant.name ?? "Agent");
  setText(row.querySelector(".participant-activity"), participant.activity?.action ?? "");
}

/** The buttons are the only way to decide: what they call is not reachable for a tool. */
function createProposal({ proposal, accept, reject }: PendingProposal, by: Participant | undefined): HTMLElement {
  const row = element("li", "proposal");
  const who = by?.name ?? "An agent";
  const buttons = element("div", "proposal-buttons");
  const yes = button("Accept", `Accept: ${proposal.summary}`, () => accept());
  yes.classList.add("primary");
  buttons.append(
    yes,
    button("Reject", `Reject: ${proposal.summary}`, () => reject()),
  );
  row.append(element("p", "proposal-summary", proposal.summary), element("p", "hint", `Proposed by ${who}`), buttons);
  return row;
}

function button(text: string, label: string, onClick: () => void): HTMLButtonElement {
  const made = element("button", "", text);
  made.type = "button";
  made.setAttribute("aria-label", label);
  made.addEventListener("click", onClick);
  return made;
}

function createLine({ text, tone }: ActivityLine): HTMLElement {
  const line = element("li", `line line-${tone}`);
  line.append(element("time", ""), element("span", "", text));
  return line;
}

function updateLine(line: HTMLElement, { at }: ActivityLine): void {
  const time = line.querySelector("time");
  if (time === null) return;
  time.dateTime = new Date(at).toISOString();
  setText(time, new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" }));
}
