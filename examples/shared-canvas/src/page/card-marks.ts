import type { SurfaceSnapshot } from "@human-plus/surface";
import { colorOf } from "./agent-color.ts";
import { setText } from "./keyed-list.ts";

/** Shows on each card whose hand was last on it, and which ones somebody proposes to delete. */
export function showCardMarks(cards: ParentNode, { history, participants, proposals }: SurfaceSnapshot): void {
  const hands = new Map<string, { who: string; color: string | undefined }>();
  for (const entry of history) {
    if (entry.type !== "change") continue;
    const agent = participants.find(({ id }) => id === entry.hand.id);
    const who = entry.hand.type === "human" ? "You" : (entry.by ?? "An agent");
    hands.set(entry.change.handle, { who, color: agent && colorOf(agent) });
  }
  const leaving = new Set(
    proposals.flatMap(({ proposal }) =>
      proposal.changes.filter(({ kind }) => kind === "deleted").map(({ handle }) => handle),
    ),
  );
  for (const card of cards.querySelectorAll<HTMLElement>(".card")) {
    const handle = card.dataset["key"] ?? "";
    const hand = hands.get(handle);
    const mark = card.querySelector<HTMLElement>(".hand");
    if (mark !== null) {
      mark.hidden = hand === undefined;
      mark.style.setProperty("--agent", hand?.color ?? "var(--ink)");
      setText(mark, hand?.who ?? "");
    }
    card.classList.toggle("leaving", leaving.has(handle));
  }
}
