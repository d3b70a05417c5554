import { createSurface, type Surface, type SurfaceOptions } from "../src/index.ts";

/** A small board of cards in frames, with the tools that tests need. */
export interface Board {
  readonly surface: Surface;
  readonly cards: Map<string, { title: string; frame?: string | undefined }>;
  readonly errors: unknown[];
  /** A person renames a card. */
  rename(card: string, title: string, by?: string): void;
  /** Moves a frame, as a person. */
  moveFrame(frame: string): void;
}

export function createBoard(options: Partial<SurfaceOptions> = {}): Board {
  const cards: Board["cards"] = new Map([
    ["a", { title: "A" }],
    ["b", { title: "B" }],
    ["in", { title: "In", frame: "frame" }],
  ]);
  const errors: unknown[] = [];
  const surface = createSurface({
    id: "board",
    application: "test",
    parentOf: (handle) => cards.get(handle)?.frame,
    onError: (error) => void errors.push(error),
    ...options,
  });
  surface.tool({
    name: "read",
    touches: "none",
    handler: () => ({ structuredContent: Object.fromEntries(cards) }),
  });
  surface.tool<{ card: string; title: string }>({
    name: "rename",
    touches: ({ card }) => [card],
    handler: ({ card, title }, call) => {
      const before = cards.get(card)?.title ?? "";
      call.commit({ handle: card, kind: "updated" }, () => cards.set(card, { ...cards.get(card), title }), {
        undo: () => cards.set(card, { ...cards.get(card), title: before }),
      });
      return "done";
    },
  });
  surface.tool({
    name: "clear",
    handler: (_, call) => {
      call.commit({ handle: "board", kind: "updated" }, () => cards.clear());
      return "done";
    },
  });
  surface.tool({
    name: "delete_frame",
    touches: ["frame"],
    handler: (_, call) => {
      call.commit({ handle: "frame", kind: "deleted" }, () => cards.delete("in"));
      return "done";
    },
  });
  surface.tool<{ card: string; title: string }>({
    name: "suggest",
    stage: true,
    touches: ({ card }) => [card],
    handler: ({ card, title }, call) => {
      call.propose({ handle: card, kind: "updated" }, () => cards.set(card, { title }), { summary: `Rename ${card}` });
      return undefined;
    },
  });
  return {
    surface,
    cards,
    errors,
    rename: (card, title, id) => {
      const before = cards.get(card)?.title ?? "";
      surface.commit({ handle: card, kind: "updated" }, () => cards.set(card, { ...cards.get(card), title }), {
        by: { type: "human", id },
        undo: () => cards.set(card, { ...cards.get(card), title: before }),
      });
    },
    moveFrame: (frame) => surface.recordChange({ handle: frame, kind: "moved" }),
  };
}
