import { connectSurface, createSurface, type ToolOptions } from "@human-plus/surface";
import { bindYjs } from "@human-plus/surface/yjs";
import * as Y from "yjs";
import type { BoardState, JournalEntry } from "./journal.ts";

// A board of cards with words that people type and places to which they drag, in a document that two pages share.

type Card = Y.Map<Y.Text | number>;

declare global {
  interface Window {
    board: () => BoardState;
  }
}

const { invitation, isFirst, clientID } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const doc = new Y.Doc();
doc.clientID = clientID;
const cards = doc.getMap<Card>("cards");
const journal: JournalEntry[] = [];
const surface = createSurface({ id: invitation.surfaceId, application: "board" });
const binding = bindYjs({ surface, items: cards, placeKeys: ["x", "y"] });

const others = new BroadcastChannel("board");
others.onmessage = ({ data }: MessageEvent<Uint8Array>) => Y.applyUpdate(doc, data, others);
doc.on("update", (update: Uint8Array, origin: unknown) => {
  if (origin !== others) others.postMessage(update);
});

function textOf(card: string): Y.Text {
  return cards.get(card)?.get("text") as Y.Text;
}

/** Makes a text another one with the smallest edit, as an editor does. */
function replaceText(text: Y.Text, next: string): void {
  const now = text.toString();
  let start = 0;
  while (start < now.length && start < next.length && now[start] === next[start]) start++;
  let end = 0;
  while (end < now.length - start && end < next.length - start && now.at(-1 - end) === next.at(-1 - end)) end++;
  if (now.length - end > start) text.delete(start, now.length - end - start);
  if (next.length - end > start) text.insert(start, next.slice(start, next.length - end));
}

function personDoes(handle: string, kind: JournalEntry["kind"], apply: () => void): void {
  journal.push({ hand: "human", handle, kind });
  doc.transact(apply);
}

surface.tool({ name: "read", touches: "none", handler: () => ({ structuredContent: { cards: cards.toJSON() } }) });
surface.tool({
  name: "write",
  touches: ({ card }) => [card],
  async handler({ card, text }, call) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    binding.commit(call, { handle: card, kind: "updated" }, () => replaceText(textOf(card), text));
    journal.push({ hand: call.participantId ?? "", handle: card, kind: "updated" });
    return "written";
  },
} satisfies ToolOptions<{ card: string; text: string }>);
surface.tool({
  name: "move",
  touches: ({ card }) => [card],
  handler({ card, x, y }, call) {
    binding.commit(call, { handle: card, kind: "moved" }, () => {
      cards.get(card)?.set("x", x);
      cards.get(card)?.set("y", y);
    });
    journal.push({ hand: call.participantId ?? "", handle: card, kind: "moved" });
    return "moved";
  },
} satisfies ToolOptions<{ card: string; x: number; y: number }>);

/** Shows a card, and follows it. */
function show(handle: string): void {
  const box = document.createElement("div");
  box.className = "card";
  box.id = handle;
  const grip = box.appendChild(document.createElement("div"));
  grip.className = "handle";
  const field = box.appendChild(document.createElement("textarea"));
  document.body.append(box);
  let drag: { x: number; y: number } | undefined;

  function place(x: number, y: number): void {
    box.style.transform = `translate(${x}px, ${y}px)`;
  }
  function update(): void {
    const card = cards.get(handle) as Card;
    const text = textOf(handle).toString();
    if (field.value !== text) {
      field.value = text;
      field.setSelectionRange(text.length, text.length);
    }
    if (drag === undefined) place(Number(card.get("x")), Number(card.get("y")));
  }

  field.addEventListener("input", () => personDoes(handle, "updated", () => replaceText(textOf(handle), field.value)));
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    drag = {
      x: event.clientX - Number(cards.get(handle)?.get("x")),
      y: event.clientY - Number(cards.get(handle)?.get("y")),
    };
  });
  grip.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (drag !== undefined) place(clientX - drag.x, clientY - drag.y);
  });
  grip.addEventListener("pointerup", ({ clientX, clientY }) => {
    const from = drag;
    drag = undefined;
    if (from === undefined) return;
    personDoes(handle, "moved", () => {
      cards.get(handle)?.set("x", clientX - from.x);
      cards.get(handle)?.set("y", clientY - from.y);
    });
  });
  cards.get(handle)?.observeDeep(update);
  update();
}

cards.observe(({ keysChanged }) => {
  for (const handle of keysChanged) if (document.getElementById(handle) === null) show(handle);
});
if (isFirst) {
  for (const [index, handle] of ["budget", "travel", "rent"].entries()) {
    const parts: [string, Y.Text | number][] = [
      ["text", new Y.Text()],
      ["x", 20],
      ["y", 20 + index * 120],
    ];
    personDoes(handle, "created", () => cards.set(handle, new Y.Map(parts)));
  }
}

const connection = connectSurface(surface, invitation);
window.board = () => ({
  status: connection.getSnapshot().status,
  cards: cards.toJSON() as BoardState["cards"],
  journal,
});
