import { type Surface, ToolError } from "@human-plus/surface";
import type { CanvasStore, Card } from "./canvas-store.ts";
import { canvasSize, cardLimits } from "./canvas-store.ts";

export interface CanvasToolsOptions {
  store: CanvasStore;
  surface: Pick<Surface, "tool">;
  /** @default crypto.randomUUID, shortened */
  createHandle?: (() => string) | undefined;
}

type Values = Readonly<Record<string, unknown>>;

const handle = { type: "string", description: "The handle of a card, from canvas_read." } as const;
const x = { type: "number", description: "Left edge, in pixels." } as const;
const y = { type: "number", description: "Upper edge, in pixels." } as const;
const title = { type: "string", maxLength: cardLimits.title } as const;
const text = { type: "string", maxLength: cardLimits.text } as const;

/**
 * What agents may do. Each writing tool touches one card, so a change of another card refuses nothing, and changes state
 * inside `commit`, where the pin is checked in the same tick.
 */
export function offerCanvasTools({ store, surface, createHandle = shortId }: CanvasToolsOptions): void {
  surface.tool({
    name: "canvas_read",
    title: "Read the canvas",
    description: "All cards with handle, title, text, x and y, the size of the canvas, and which cards a person holds.",
    annotations: { readOnlyHint: true },
    touches: "none",
    handler: () => ({
      structuredContent: {
        canvas: { ...canvasSize },
        cards: store.state.cards.map((card) => ({ ...card, heldByPerson: store.state.held.has(card.handle) })),
      },
    }),
  });

  surface.tool({
    name: "canvas_move",
    title: "Move a card",
    inputSchema: schema({ handle, x, y }, ["handle", "x", "y"]),
    parse: (args) => ({ handle: readText(args, "handle"), x: readNumber(args, "x"), y: readNumber(args, "y") }),
    touches: ({ handle }) => [handle],
    handler({ handle, x, y }, call) {
      const card = existing(store, handle);
      const moved = call.commit(
        { handle, kind: "moved", label: card.title },
        () => store.put({ ...free(store, handle), x, y }),
        { undo: () => void store.put(card) },
      );
      return `${moved.title} is at ${moved.x}, ${moved.y}.`;
    },
  });

  surface.tool({
    name: "canvas_edit",
    title: "Edit a card",
    description: "Gives a card another title, another text, or both.",
    inputSchema: schema({ handle, title, text }, ["handle"]),
    parse: (args) => ({ handle: readText(args, "handle"), ...readTexts(args) }),
    touches: ({ handle }) => [handle],
    handler({ handle, ...texts }, call) {
      const card = existing(store, handle);
      call.commit(
        { handle, kind: "updated", label: texts.title ?? card.title },
        () => store.put({ ...free(store, handle), ...texts }),
        { undo: () => void store.put(card) },
      );
      return "Written.";
    },
  });

  surface.tool({
    name: "canvas_add",
    title: "Add a card",
    description: "Adds a card and tells its handle.",
    inputSchema: schema({ title, text, x, y }, ["title", "x", "y"]),
    parse: (args) => ({
      title: readText(args, "title"),
      text: readTexts(args).text ?? "",
      x: readNumber(args, "x"),
      y: readNumber(args, "y"),
    }),
    touches: [],
    handler(parts, call) {
      const card = { ...parts, handle: createHandle() };
      call.commit({ handle: card.handle, kind: "created", label: card.title }, () => store.put(card), {
        undo: () => store.remove(card.handle),
      });
      return { structuredContent: { handle: card.handle } };
    },
  });

  surface.tool({
    name: "canvas_delete",
    title: "Delete a card",
    description: "Proposes to delete a card. Nothing happens before a person accepts.",
    inputSchema: schema({ handle }, ["handle"]),
    parse: (args) => ({ handle: readText(args, "handle") }),
    touches: ({ handle }) => [handle],
    stage: true,
    handler({ handle }, call) {
      const card = existing(store, handle);
      call.propose({ handle, kind: "deleted", label: card.title }, () => store.remove(handle), {
        summary: `Delete ${card.title}`,
        undo: () => void store.put(card),
      });
      return `Proposed to delete ${card.title}. A person decides.`;
    },
  });
}

function existing(store: CanvasStore, handle: string): Card {
  const card = store.find(handle);
  if (card === undefined) throw new ToolError("There is no card with this handle. Read the canvas.");
  return card;
}

/** The card as it is at the moment of writing. @throws ToolError while a person has it in hand */
function free(store: CanvasStore, handle: string): Card {
  if (store.state.held.has(handle))
    throw new ToolError("A person holds this card at this moment. Nothing was written; work on another one.");
  return existing(store, handle);
}

function schema(properties: Values, required: readonly string[]) {
  return { type: "object", properties: { ...properties }, required: [...required], additionalProperties: false };
}

function readText(args: Values, name: string): string {
  const value = args[name];
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new ToolError(`${name} should be text, and not blank.`);
}

function readNumber(args: Values, name: string): number {
  const value = args[name];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new ToolError(`${name} should be a number.`);
}

function readTexts(args: Values): Partial<Pick<Card, "title" | "text">> {
  const texts: { title?: string; text?: string } = {};
  for (const name of ["title", "text"] as const) {
    const value = args[name];
    if (value === undefined) continue;
    if (typeof value !== "string") throw new ToolError(`${name} should be text.`);
    texts[name] = value;
  }
  return texts;
}

function shortId(): string {
  return `card-${crypto.randomUUID().slice(0, 8)}`;
}
