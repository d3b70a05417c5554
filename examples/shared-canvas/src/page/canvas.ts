import type { Change, Surface } from "@human-plus/surface";
import type { CanvasStore, Card } from "./canvas-store.ts";

/** Which part of a card a person may write. */
type CardText = Pick<Card, "title" | "text">;

/**
 * What a person does on the canvas. Every change goes through the surface's `commit`, so that agents learn of it and a
 * call that rests on the state before is refused.
 */
export interface Canvas {
  readonly store: CanvasStore;
  move(handle: string, to: { x: number; y: number }): void;
  edit(handle: string, text: CardText): void;
  /** Gives back the new card's handle. */
  add(card: Omit<Card, "handle">): string;
  remove(handle: string): void;
  /**
   * A person takes a card to drag it. This counts as a move at once: an agent that read the canvas before must not move
   * the card out of the person's hand, and where it will be dropped nobody knows yet.
   */
  pickUp(handle: string): void;
  /** A person begins to write. Nothing changes yet; until `release`, agents' writes on the card are refused all the same. */
  hold(handle: string): void;
  release(handle: string): void;
  /** Takes back the person's latest change; says what became of it, in words for them. */
  undo(): string;
}

export interface CanvasOptions {
  store: CanvasStore;
  surface: Pick<Surface, "commit" | "undo">;
  /** @default crypto.randomUUID, shortened */
  createHandle?: (() => string) | undefined;
}

/** Commits that only say "a person has this in hand" and change nothing by themselves. */
const MAX_EMPTY_UNDOS = 50;

export function createCanvas({ store, surface, createHandle = shortId }: CanvasOptions): Canvas {
  function change(kind: Change["kind"], before: Card, apply: () => void, label = before.title): void {
    const undo = () => void (kind === "created" ? store.remove(before.handle) : store.put(before));
    surface.commit({ handle: before.handle, kind, label }, apply, { undo });
  }

  return {
    store,
    move(handle, to) {
      const card = store.find(handle);
      if (card !== undefined) change("moved", card, () => store.put({ ...card, ...to }));
    },
    edit(handle, text) {
      const card = store.find(handle);
      if (card === undefined || (card.title === text.title && card.text === text.text)) return;
      change("updated", card, () => store.put({ ...card, ...text }), text.title);
    },
    add(parts) {
      const card = { ...parts, handle: createHandle() };
      change("created", card, () => store.put(card));
      return card.handle;
    },
    remove(handle) {
      const card = store.find(handle);
      if (card !== undefined) change("deleted", card, () => store.remove(handle));
    },
    pickUp(handle) {
      const card = store.find(handle);
      if (card !== undefined) change("moved", card, () => store.setHeld(handle, true));
    },
    hold: (handle) => store.setHeld(handle, true),
    release: (handle) => store.setHeld(handle, false),
    undo() {
      for (let tries = 0; tries < MAX_EMPTY_UNDOS; tries++) {
        const before = store.state.cards.map(identity);
        const outcome = surface.undo();
        if (!outcome.undone)
          return outcome.reason === "changed_since" ? "Somebody changed it since: nothing undone" : "Nothing to undo";
        if (store.state.cards.map(identity).join() !== before.join()) return "Undone";
      }
      return "Nothing to undo";
    },
  };
}

function identity({ handle, title, text, x, y }: Card): string {
  return JSON.stringify([handle, title, text, x, y]);
}

function shortId(): string {
  return `card-${crypto.randomUUID().slice(0, 8)}`;
}
