import { type Card, canvasSize } from "./canvas-store.ts";

const STEP = 20;

/** A place for one more card that covers no other one, as near to the middle as there is; else the middle. */
export function freePosition(cards: readonly Card[]): { x: number; y: number } {
  const { width, height, cardWidth, cardHeight } = canvasSize;
  const middle = { x: (width - cardWidth) / 2, y: (height - cardHeight) / 2 };
  let best = middle;
  let shortest = Number.POSITIVE_INFINITY;
  for (let x = STEP; x + cardWidth + STEP <= width; x += STEP) {
    for (let y = STEP; y + cardHeight + STEP <= height; y += STEP) {
      const distance = Math.hypot(x - middle.x, y - middle.y);
      const isCovered = cards.some(
        (card) => Math.abs(card.x - x) < cardWidth + STEP / 2 && Math.abs(card.y - y) < cardHeight + STEP / 2,
      );
      if (distance >= shortest || isCovered) continue;
      shortest = distance;
      best = { x, y };
    }
  }
  return best;
}
