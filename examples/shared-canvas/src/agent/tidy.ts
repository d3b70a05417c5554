import { type ChangeReport, HumanPlusError, type SurfaceSession } from "@human-plus/core";
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
}

/** What became of tidying. */
export interface TidyReport {
  /** Handles of the cards it moved. */
  readonly moved: readonly string[];
  /** Refusals it was given. */
  readonly refusals: readonly HumanPlusError[];
  /** What it was told had changed, after each refusal. */
  readonly reports: readonly ChangeReport[];
  /** Handles of cards that others changed and that it left where they are. */
  readonly leftAlone: readonly string[];
}

/**
 * Lines the cards up in rows, but for those that people have touched already. Whatever somebody else changes meanwhile
 * stays as it is: a refused move is not repeated; the agent asks what changed, takes those cards out of its plan, and
 * goes on around them.
 */
export async function tidyUp({ session, say, pause, beforeMove }: TidyOptions): Promise<TidyReport> {
  const moved: string[] = [];
  const refusals: HumanPlusError[] = [];
  const reports: ChangeReport[] = [];
  const leftAlone = new Set<string>();

  await session.announce({ action: "Reading the canvas" });
  for (const { handle, actor } of (await session.changesSince()).changes) if (actor === "human") leftAlone.add(handle);
  let canvas = await readCanvas(session);
  say(`reads the canvas: ${canvas.cards.length} cards`);
  for (let card = next(); card !== undefined; card = next()) {
    const { handle, title } = card;
    const [slot] = freeSlots(canvas, staying());
    if (slot === undefined) break;
    await session.announce({ action: `Moving ${title}`, target: handle });
    await pause();
    await beforeMove?.(card);
    try {
      const result = await session.call("canvas_move", { handle, ...slot });
      if (result.isError) {
        say(`is told that ${title} is in somebody's hand, and leaves it alone`);
        leftAlone.add(handle);
        continue;
      }
      moved.push(handle);
      canvas = { ...canvas, cards: canvas.cards.map((old) => (old === card ? { ...card, ...slot } : old)) };
      say(`moves ${title}`);
    } catch (error) {
      if (!(error instanceof HumanPlusError) || error.code !== "surface_changed_under_you") throw error;
      refusals.push(error);
      say(`is refused (${error.code}): nothing was written to ${title}`);
      await askWhatChanged(handle);
    }
  }
  await session.announce({ action: "Done", priority: "background" });
  say(`is done: ${moved.length} moved, ${leftAlone.size} left where others put them`);
  return { moved, refusals, reports, leftAlone: [...leftAlone] };

  /** The next card in reading order that is neither moved yet nor somebody else's by now. */
  function next(): ReadCard | undefined {
    return canvas.cards
      .filter(({ handle }) => !moved.includes(handle) && !leftAlone.has(handle))
      .toSorted((a, b) => row(a, canvas) - row(b, canvas) || a.x - b.x)[0];
  }

  function staying(): ReadCard[] {
    return canvas.cards.filter(({ handle }) => moved.includes(handle) || leftAlone.has(handle));
  }

  async function askWhatChanged(target: string): Promise<void> {
    await session.announce({ action: "Asking what changed", target });
    const report = await session.changesSince();
    reports.push(report);
    for (const { handle, kind, actor, label = handle } of report.deferTo) {
      leftAlone.add(handle);
      say(`learns: ${label} was ${kind} by ${actor === "human" ? "a person" : "another agent"}, so it stays as it is`);
    }
    // A feed that does not know it all, or does not name the card: then at least this card is not touched again.
    leftAlone.add(target);
    await pause();
    canvas = await readCanvas(session);
    say("reads again, and goes on around it");
  }
}

function row({ y }: ReadCard, { cardHeight }: CanvasReading): number {
  return Math.floor(y / cardHeight);
}
