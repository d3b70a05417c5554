import type { Change } from "@human-plus/surface";
import type { Declared } from "./ledger.ts";

/** What is on the board: cards, and a frame that holds some. */
export interface Item {
  text: string;
  parent: string | undefined;
}

export const FRAME = "Plan";
export const CARDS = ["Budget", "Travel", "Rent"] as const;

export interface Edit {
  readonly changes: readonly Change[];
  /** Gives back how to take it back. */
  readonly apply: () => () => void;
  /** "moves Plan". */
  readonly words: string;
}

/** The state of the application. It lives through reloads of its page. */
export interface Board {
  readonly items: Map<string, Item>;
  parentOf(handle: string): string | undefined;
  containersOf(handle: string): Set<string>;
  /** A copy of everything that is on it. */
  snapshot(): ReadonlyMap<string, Item>;
  /** What an edit would do now; `undefined` if it makes no sense now. */
  edit(kind: EditKind, handle: string, text: string): Edit | undefined;
}

export const editKinds = ["edits", "moves", "deletes", "adds", "puts in the frame", "reorders the frame of"] as const;
export type EditKind = (typeof editKinds)[number];

export function createBoard(): Board {
  const items = new Map<string, Item>([
    [FRAME, { text: "", parent: undefined }],
    ["Budget", { text: "", parent: FRAME }],
    ["Travel", { text: "", parent: FRAME }],
    ["Rent", { text: "", parent: undefined }],
  ]);
  const parentOf = (handle: string) => items.get(handle)?.parent;

  function inside(frame: string): string[] {
    return [...items].filter(([, { parent }]) => parent === frame).map(([handle]) => handle);
  }

  /** Gives an item other values, and gives back how to give it the old ones. */
  function assign(item: Item, values: Partial<Item>): () => void {
    const { text, parent } = item;
    const before: Partial<Item> = { ...("text" in values && { text }), ...("parent" in values && { parent }) };
    Object.assign(item, values);
    return () => void Object.assign(item, before);
  }

  function remove(handles: readonly string[]): () => void {
    const gone = handles.map((handle) => [handle, items.get(handle)] as const);
    for (const handle of handles) items.delete(handle);
    return () => {
      for (const [handle, item] of gone) if (item !== undefined) items.set(handle, item);
    };
  }

  return {
    items,
    parentOf,
    snapshot: () => new Map([...items].map(([handle, item]) => [handle, { ...item }])),
    containersOf(handle) {
      const parent = parentOf(handle);
      return new Set(parent === undefined ? [] : [parent]);
    },
    edit(kind, handle, text) {
      const item = items.get(handle);
      if (kind === "adds") {
        if (item !== undefined) return undefined;
        const apply = () => {
          items.set(handle, { text, parent: undefined });
          return () => void items.delete(handle);
        };
        return { changes: [{ handle, kind: "created" }], apply, words: `adds ${handle}` };
      }
      if (item === undefined) return undefined;
      switch (kind) {
        case "edits":
          return {
            changes: [{ handle, kind: "updated" }],
            apply: () => assign(item, { text }),
            words: `edits ${handle}`,
          };
        case "moves":
          return { changes: [{ handle, kind: "moved" }], apply: () => () => {}, words: `moves ${handle}` };
        case "deletes": {
          const gone = [handle, ...inside(handle)];
          const changes: Change[] = [{ handle, kind: "deleted", alsoTouches: gone.slice(1) }];
          return { changes, apply: () => remove(gone), words: `deletes ${gone.join(" with ")}` };
        }
        case "puts in the frame": {
          if (handle === FRAME || !items.has(FRAME)) return undefined;
          const parent = item.parent === undefined ? FRAME : undefined;
          const words = parent === undefined ? `takes ${handle} out of ${FRAME}` : `puts ${handle} into ${FRAME}`;
          return { changes: [{ handle, kind: "moved" }], apply: () => assign(item, { parent }), words };
        }
        case "reorders the frame of": {
          if (item.parent === undefined) return undefined;
          const alsoTouches = inside(item.parent);
          return {
            changes: [{ handle: item.parent, kind: "updated", alsoTouches }],
            apply: () => () => {},
            words: `reorders what is in ${item.parent}`,
          };
        }
        default:
          return kind satisfies never;
      }
    },
  };
}

/** A tool of the board: what it says that it touches, and what it then does. */
export interface BoardTool {
  readonly touches: (card: string) => Declared;
  /** Its edits, committed one after another. */
  readonly edits: (card: string) => readonly (readonly [EditKind, string])[];
  /** All edits become one commit. */
  readonly together?: boolean;
  /** Waits before each commit, after it asked whether its pin still holds. */
  readonly waits?: boolean;
  readonly stage?: boolean;
  /** Its commits cannot be undone. */
  readonly isFinal?: boolean;
  readonly words: string;
}

const rest = (card: string) => CARDS.filter((other) => other !== card).slice(0, 1);

/** Every granularity that a tool can declare. */
export const boardTools = {
  write: { touches: (card) => [card], edits: (card) => [["edits", card]], words: "writes" },
  think: { touches: (card) => [card], edits: (card) => [["edits", card]], waits: true, words: "thinks, and writes" },
  drop: { touches: (card) => [card], edits: (card) => [["deletes", card]], words: "deletes" },
  add: { touches: () => [], edits: (card) => [["adds", card]], words: "adds" },
  shift: { touches: (card) => [card], edits: (card) => [["puts in the frame", card]], words: "moves" },
  pair: {
    touches: (card) => [card],
    edits: (card) => [["edits", card], ...rest(card).map((other) => ["edits", other] as const)],
    together: true,
    words: "writes two cards, one of them",
  },
  steps: {
    touches: (card) => [card],
    edits: (card) => [
      ["edits", card],
      ["edits", card],
    ],
    waits: true,
    words: "writes twice",
  },
  clean: {
    touches: () => "all",
    edits: () => CARDS.map((card) => ["edits", card] as const),
    together: true,
    words: "writes all cards, asked for",
  },
  frame: {
    touches: () => [{ handle: FRAME, contents: true }],
    edits: () => [["moves", FRAME]],
    isFinal: true,
    words: "moves Plan with all that is in it, asked for",
  },
  drop_frame: { touches: () => [FRAME], edits: () => [["deletes", FRAME]], words: "deletes Plan, asked for" },
  suggest: { touches: (card) => [card], edits: (card) => [["edits", card]], stage: true, words: "proposes to write" },
} as const satisfies Record<string, BoardTool>;

/** The tool that takes back what its caller did last. */
export const UNDO_TOOL = "take_back";

export type BoardToolName = keyof typeof boardTools;
