import type { CanvasReading } from "./canvas-reading.ts";

export interface Slot {
  readonly x: number;
  readonly y: number;
}

const MARGIN = 40;
const CLEARANCE = 12;

/** Places for cards in rows from the upper left, without those that would cover a card that has to stay where it is. */
export function freeSlots({ width, height, cardWidth, cardHeight }: CanvasReading, staying: readonly Slot[]): Slot[] {
  const columns = Math.max(1, Math.floor((width - MARGIN) / (cardWidth + MARGIN)));
  const gap = (width - columns * cardWidth) / (columns + 1);
  const slots: Slot[] = [];
  for (let y = gap; y + cardHeight <= height; y += cardHeight + gap) {
    for (let column = 0; column < columns; column++) {
      const slot = { x: Math.round(gap + column * (cardWidth + gap)), y: Math.round(y) };
      const isCovered = staying.some(
        (card) =>
          Math.abs(card.x - slot.x) < cardWidth + CLEARANCE && Math.abs(card.y - slot.y) < cardHeight + CLEARANCE,
      );
      if (!isCovered) slots.push(slot);
    }
  }
  return slots;
}
