import type { Participant } from "@human-plus/surface";
import { colorOf, inkOn } from "./agent-color.ts";
import { type CanvasStore, canvasSize } from "./canvas-store.ts";
import { element, renderKeyedList, setText } from "./keyed-list.ts";

/** Shows each agent that works on a card as a cursor at that card, with its name in its colour. */
export function showCursors(store: CanvasStore, parent: HTMLElement): (participants: readonly Participant[]) => void {
  let shown: readonly Participant[] = [];
  /** Where each agent worked last: it rests there. */
  const places = new Map<string, string>();

  function create(): HTMLElement {
    const cursor = element("div", "cursor");
    cursor.append(arrow(), element("span", "cursor-name"));
    return cursor;
  }

  function update(cursor: HTMLElement, participant: Participant): void {
    const card = store.find(places.get(participant.id) ?? "");
    if (card === undefined) return;
    const color = colorOf(participant);
    cursor.style.setProperty("--agent", color);
    cursor.style.setProperty("--agent-ink", inkOn(color));
    cursor.style.transform = `translate(${card.x + canvasSize.cardWidth - 34}px, ${card.y + canvasSize.cardHeight - 16}px)`;
    cursor.classList.toggle("resting", participant.activity?.target === undefined);
    setText(cursor.querySelector(".cursor-name"), participant.name ?? "Agent");
  }

  function render(): void {
    for (const { id, activity } of shown) if (activity?.target !== undefined) places.set(id, activity.target);
    const items = shown.filter(({ id, connected }) => connected && store.find(places.get(id) ?? "") !== undefined);
    renderKeyedList({ parent, items, keyOf: ({ id }) => id, create, update });
  }

  store.subscribe(render);
  return (participants) => {
    shown = participants;
    render();
  };
}

function arrow(): SVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", "M2 2l15 6.2-6.6 2.2L8.2 17z");
  svg.append(path);
  return svg;
}
