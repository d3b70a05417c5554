import type { JsonObject, SurfaceSession } from "@human-plus/core";

export interface ReadCard {
  readonly handle: string;
  readonly title: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** What an agent knows of the canvas after `canvas_read`. */
export interface CanvasReading {
  readonly width: number;
  readonly height: number;
  readonly cardWidth: number;
  readonly cardHeight: number;
  readonly cards: readonly ReadCard[];
}

/** Reads the canvas; from then on, calls are pinned to this reading. @throws Error if the page answers with something else */
export async function readCanvas(session: SurfaceSession): Promise<CanvasReading> {
  return parseCanvas((await session.call("canvas_read")).structuredContent);
}

/** What `canvas_read` answered. @throws Error if it is something else */
export function parseCanvas(structuredContent: JsonObject | undefined): CanvasReading {
  const canvas = structuredContent?.["canvas"] as JsonObject | undefined;
  const cards = structuredContent?.["cards"];
  if (typeof canvas !== "object" || canvas === null || !Array.isArray(cards))
    throw new Error("canvas_read should answer with the canvas and its cards");
  return {
    width: number(canvas["width"]),
    height: number(canvas["height"]),
    cardWidth: number(canvas["cardWidth"]),
    cardHeight: number(canvas["cardHeight"]),
    cards: cards.map((card) => ({
      handle: String(card?.handle),
      title: String(card?.title),
      text: String(card?.text),
      x: number(card?.x),
      y: number(card?.y),
    })),
  };
}

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error("canvas_read should answer with numbers for sizes and positions");
}
