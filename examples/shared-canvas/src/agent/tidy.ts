import { type ChangeReport, HumanPlusError, type SurfaceSession } from "@human-plus/core";
import { beginTurn, whyLeftAlone } from "./begin-turn.ts";
import { type CanvasReading, type ReadCard, readCanvas } from "./canvas-reading.ts";
import { freeSlots } from "./free-slots.ts";

export interface TidyOptions {
  session: SurfaceSession;
  /** Takes one line of the transcript. */
  say: (text: string) => void;
  /** Time between telling people and acting, so that they can follow. */
  pause: () => Promise<void>;
  /** What happens between the agent's announcement and its move of a card. @default nothing */
  beforeMove?: ((card: ReadCard) => Promise<void>) | undefined;
  /** What happens after each turn and before the next. @default nothing */
  betweenTurns?: (() => Promise<void>) | undefined;
}

/** What became of tidying. */
export interface TidyReport {
  /** Handles of the cards it moved. */
  readonly moved: readonly string[];
  /** Refusals it was given. */
  readonly refusals: readonly HumanPlusError[];
  /** What it was told at the beginning of each turn in which others had changed something. */
  readonly reports: readonly ChangeReport[];
  /** Handles of cards that others changed and that it left where they are. */
  readonly leftAlone: readonly string[];
}

/**
 * Lines the cards up in rows, one in each turn, but for those that somebody else has touched already. Every turn begins
 * with what changed, and what others changed is out of its plan from then on. What somebody changes in the middle of a
 * turn stays as it is, too: that move is refused and not repeated, and the next turn goes on around the card.
 */
export async function tidyUp({ session, say, pause, beforeMove, betweenTurns }: TidyOptions): Promise<TidyReport> {
  const moved: string[] = [];
  const refusals: HumanPlusError[] = [];
  const reports: ChangeReport[] = [];
  const leftAlone = new Set<string>();
  let canvas: CanvasReading | undefined;

  await session.announce({ action: "Reading the canvas" });
  while (await takeTurn()) await betweenTurns?.();
  await session.announce({ action: "Done", priority: "background" });
  say(`is done: ${moved.length} moved, ${leftAlone.size} left where others put them`);
  return { moved, refusals, reports, leftAlone: [...leftAlone] };

  /** Moves one card; false if none is left to move. */
  async function takeTurn(): Promise<boolean> {
    using turn = await beginTurn(session);
    leaveAlone(turn.report);
    if (canvas === undefined || !turn.report.nothingChanged) {
      const isFirst = canvas === undefined;
      canvas = await readCanvas(session);
      say(isFirst ? `reads the canvas: ${canvas.cards.length} cards` : "reads again, and goes on around it");
    }
    const card = nextOf(canvas);
    const [slot] = freeSlots(canvas, stayingOf(canvas));
    if (card === undefined || slot === undefined) return false;
    const { handle, title } = card;
    await session.announce({ action: `Moving ${title}`, target: handle });
    await pause();
    await beforeMove?.(card);
    try {
      const { isError } = await session.call("canvas_move", { handle, ...slot });
      if (isError) {
        say(`is told that ${title} is in somebody's hand, and leaves it alone`);
        leftAlone.add(handle);
        return true;
      }
      moved.push(handle);
      canvas = { ...canvas, cards: canvas.cards.map((old) => (old === card ? { ...card, ...slot } : old)) };
      say(`moves ${title}`);
    } catch (error) {
      if (!(error instanceof HumanPlusError) || error.code !== "surface_changed_under_you") throw error;
      refusals.push(error);
      leftAlone.add(handle); // whether or not the feed will name it
      say(`is refused (${error.code}): nothing was written to ${title}`);
      await session.announce({ action: "Asking what changed", target: handle });
      await pause();
    }
    return true;
  }

  /** A turn protects what it was told of until it ends; this agent leaves it alone for good. */
  function leaveAlone(report: ChangeReport): void {
    const latest = new Map(report.deferTo.map((row) => [row.handle, row]));
    if (latest.size > 0) reports.push(report);
    for (const [handle, row] of latest) {
      leftAlone.add(handle);
      say(`leaves ${whyLeftAlone(row)}`);
    }
  }

  /** The next card in reading order that is neither moved yet nor somebody else's by now. */
  function nextOf(canvas: CanvasReading): ReadCard | undefined {
    return canvas.cards
      .filter(({ handle }) => !moved.includes(handle) && !leftAlone.has(handle))
      .toSorted((a, b) => row(a, canvas) - row(b, canvas) || a.x - b.x)[0];
  }

  function stayingOf({ cards }: CanvasReading): ReadCard[] {
    return cards.filter(({ handle }) => moved.includes(handle) || leftAlone.has(handle));
  }
}

function row({ y }: ReadCard, { cardHeight }: CanvasReading): number {
  return Math.floor(y / cardHeight);
}
