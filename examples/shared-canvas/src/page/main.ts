import { connectSurface, createSurface, type Surface, type SurfaceConnection, toShareLink } from "@human-plus/surface";
import { createCanvas } from "./canvas.ts";
import { createCanvasStore } from "./canvas-store.ts";
import { offerCanvasTools } from "./canvas-tools.ts";
import { showCardMarks } from "./card-marks.ts";
import { showCards } from "./card-view.ts";
import { showCursors } from "./cursor-view.ts";
import { firstCards } from "./first-cards.ts";
import { freePosition } from "./free-position.ts";
import { setText } from "./keyed-list.ts";
import { onKeyOutsideFields } from "./page-keys.ts";
import { keepCards, savedCards } from "./saved-cards.ts";
import { showShareLink } from "./share-link.ts";
import { showSidePanel } from "./side-panel.ts";

/** What the server of the page tells it: where the relay is, and the session it opened for this page. */
const invitation = await (await fetch("/invitation.json")).json();
const store = createCanvasStore(savedCards(sessionStorage) ?? firstCards);
keepCards(store, sessionStorage);
/** Exported for pages that add to this one. */
export const surface: Surface = createSurface({
  id: invitation.surfaceId,
  application: invitation.application,
  instructions:
    "A canvas of cards that people and agents arrange together. Move only cards that nobody else just moved.",
  fingerprint: () => store.state.cards,
  coalesceChanges: true,
});
const canvas = createCanvas({ store, surface });
offerCanvasTools({ store, surface });

const board = byId("canvas");
const cardLayer = board.appendChild(document.createElement("div"));
const cards = showCards(canvas, cardLayer);
const showAgents = showCursors(store, board.appendChild(document.createElement("div")));
const showSide = showSidePanel({
  participants: byId("participants"),
  waiting: byId("waiting"),
  proposals: byId("proposals"),
  log: byId("log"),
});
const render = () => {
  const snapshot = surface.getSnapshot();
  showAgents(snapshot.participants);
  showCardMarks(cardLayer, snapshot);
  showSide(snapshot);
};
surface.subscribe(render);
render();

let forgetting: ReturnType<typeof setTimeout> | undefined;
byId("add").addEventListener("click", addCard);
byId("undo").addEventListener("click", undo);
onKeyOutsideFields({ n: addCard, "ctrl+z": undo });
showShareLink(toShareLink(invitation), {
  field: byId("share-link") as HTMLInputElement,
  button: byId("copy") as HTMLButtonElement,
  message: byId("copied"),
});

// One tab is the surface. Another one would answer the same agents with a canvas of its own.
void navigator.locks.request("shared-canvas", { ifAvailable: true }, async (lock) => {
  if (lock === null) return setText(byId("connection"), "This canvas is open in another tab");
  const connection = connectSurface(surface, invitation);
  showConnection(connection);
  await connection.opened();
  await fetch("/connected", { method: "POST" });
  await new Promise(() => undefined); // held as long as the page is open
});

function showConnection(connection: SurfaceConnection): void {
  const words = {
    connecting: "Connecting",
    open: "Open to agents",
    reconnecting: "Reconnecting",
    refused: "Refused by the relay",
    closed: "Closed",
  };
  const show = () => {
    const { status } = connection.getSnapshot();
    setText(byId("connection"), words[status]);
    byId("connection").classList.toggle("open", status === "open");
  };
  connection.subscribe(show);
  show();
}

/** A new card where there is room, and its editor. */
function addCard(): void {
  cards.edit(canvas.add({ title: "New card", text: "", ...freePosition(store.state.cards) }));
}

function undo(): void {
  setText(byId("said"), canvas.undo());
  clearTimeout(forgetting);
  forgetting = setTimeout(() => setText(byId("said"), ""), 4_000);
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
}
