/** One card. Positions are of its upper left corner, in pixels of the canvas. */
export interface Card {
  readonly handle: string;
  readonly title: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

interface CanvasState {
  /** In the order in which they were made: that is their order for the keyboard, too. */
  readonly cards: readonly Card[];
  /** Handles of cards that a person drags or edits at this moment. */
  readonly held: ReadonlySet<string>;
}

/** The size of the canvas and of every card on it, in pixels. */
export const canvasSize = { width: 1000, height: 600, cardWidth: 200, cardHeight: 124 } as const;

/** What a title and a text hold at most, in characters. */
export const cardLimits = { title: 60, text: 280 } as const;

/** The state of the canvas, and nothing else: who may change it, and how that is told, is the matter of `canvas.ts`. */
export interface CanvasStore {
  readonly state: CanvasState;
  find(handle: string): Card | undefined;
  /** Adds a card, or puts it in the place of the one with its handle. Keeps it on the canvas and inside its limits. */
  put(card: Card): Card;
  remove(handle: string): void;
  setHeld(handle: string, isHeld: boolean): void;
  /** Calls back after every change. Returns how to stop. */
  subscribe(listener: () => void): () => void;
}

export function createCanvasStore(cards: readonly Card[]): CanvasStore {
  let state: CanvasState = { cards: cards.map(toBounds), held: new Set() };
  const listeners = new Set<() => void>();

  function set(next: Partial<CanvasState>): void {
    state = { ...state, ...next };
    for (const listener of listeners) listener();
  }

  return {
    get state() {
      return state;
    },
    find: (handle) => state.cards.find((card) => card.handle === handle),
    put(given) {
      const card = toBounds(given);
      const isKnown = state.cards.some(({ handle }) => handle === card.handle);
      set({
        cards: isKnown ? state.cards.map((old) => (old.handle === card.handle ? card : old)) : [...state.cards, card],
      });
      return card;
    },
    remove(handle) {
      const held = new Set(state.held);
      held.delete(handle);
      set({ cards: state.cards.filter((card) => card.handle !== handle), held });
    },
    setHeld(handle, isHeld) {
      if (state.held.has(handle) === isHeld) return;
      const held = new Set(state.held);
      if (isHeld) held.add(handle);
      else held.delete(handle);
      set({ held });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function toBounds({ handle, title, text, x, y }: Card): Card {
  const { width, height, cardWidth, cardHeight } = canvasSize;
  return {
    handle,
    title: title.trim().slice(0, cardLimits.title) || "Untitled",
    text: text.trim().slice(0, cardLimits.text),
    x: Math.round(Math.min(Math.max(0, x), width - cardWidth)),
    y: Math.round(Math.min(Math.max(0, y), height - cardHeight)),
  };
}
