import type { FrameLocator, Locator, Page } from "playwright-core";
import { atRest } from "./at-rest.ts";

/** A person's hand on the cards of a canvas, with a real mouse. */
export interface CardHand {
  card(title: string): Locator;
  /** Where a card lies on the canvas; nothing if it is not there. */
  position(title: string): Promise<{ x: number; y: number } | undefined>;
  /** Drags a card with the mouse. */
  drag(title: string, by: { dx: number; dy: number }): Promise<void>;
  /** Drags a card and does not let go. */
  pickUp(title: string, by: { dx: number; dy: number }): Promise<void>;
}

/** @param canvas the page that the canvas is on, or its frame */
export function createCardHand({ mouse }: Page, canvas: Page | FrameLocator): CardHand {
  const card = (title: string) =>
    canvas.locator(".card", { has: canvas.getByRole("heading", { name: title, exact: true }) });

  async function pickUp(title: string, { dx, dy }: { dx: number; dy: number }): Promise<void> {
    await card(title).scrollIntoViewIfNeeded();
    await atRest(card(title));
    const box = await card(title).boundingBox();
    if (box === null) throw new Error(`there is no card ${title} to drag`);
    const from = { x: box.x + 60, y: box.y + 90 };
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(from.x + dx, from.y + dy, { steps: 12 });
  }

  return {
    card,
    async position(title) {
      if ((await card(title).count()) === 0) return undefined;
      await atRest(card(title));
      const [inner, outer] = [await card(title).boundingBox(), await canvas.locator("#canvas").boundingBox()];
      if (inner === null || outer === null) return undefined;
      return { x: Math.round(inner.x - outer.x - 1), y: Math.round(inner.y - outer.y - 1) };
    },
    async drag(title, by) {
      await pickUp(title, by);
      await mouse.up();
    },
    pickUp,
  };
}
