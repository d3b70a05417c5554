import type { CanvasStore, Card } from "./canvas-store.ts";

const KEY = "shared-canvas";

/** The cards of this tab as they were before it was loaded again, if it was. */
export function savedCards(storage: Storage): readonly Card[] | undefined {
  try {
    const cards: unknown = JSON.parse(storage.getItem(KEY) ?? "");
    return Array.isArray(cards) && cards.every(isCard) ? cards : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the cards of this tab over a reload. */
export function keepCards(store: CanvasStore, storage: Storage): void {
  store.subscribe(() => storage.setItem(KEY, JSON.stringify(store.state.cards)));
}

function isCard(value: unknown): value is Card {
  if (typeof value !== "object" || value === null) return false;
  const { handle, title, text, x, y } = value as Record<string, unknown>;
  return [handle, title, text].every((part) => typeof part === "string") && Number.isFinite(x) && Number.isFinite(y);
}
