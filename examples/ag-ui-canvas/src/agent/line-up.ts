import { type CanvasReading, parseCanvas, type ReadCard } from "../../../shared-canvas/src/agent/canvas-reading.ts";
import { freeSlots } from "../../../shared-canvas/src/agent/free-slots.ts";
import { callEnd } from "../call-words.ts";
import { type Exchange, framedObject, type MadeCall } from "./conversation.ts";
import type { Move } from "./next-move.ts";

/** What is known of the canvas, from the calls so far. */
interface Knowledge {
  readonly canvas: CanvasReading | undefined;
  readonly moved: ReadonlySet<string>;
  readonly leftAlone: ReadonlySet<string>;
}

const note = /^Note: a person acted on the surface/m;

/**
 * Lines the cards up in rows, but for those that a person touched. A refused move is not repeated: the agent asks what
 * changed, reads again, and goes on around it.
 */
export function lineUp({ calls }: Exchange): Move {
  const last = calls.at(-1);
  const read: Move = { type: "call", step: "Read the canvas", tool: "canvas_read", args: {} };
  if (last === undefined) return read;
  const end = callEnd(last.answer);
  if (end.state === "failed" || (end.state !== "done" && last.tool !== "canvas_move"))
    return { type: "say", text: "I cannot go on: the canvas does not answer as it should. Nothing else was changed." };
  const isStale = end.state === "refused" && end.code === "surface_changed_under_you";
  if (last.tool !== "changes_since" && (isStale || note.test(last.answer)))
    return { type: "call", step: "Ask what changed", tool: "changes_since", args: {} };
  if (last.tool === "changes_since") return read;

  const { canvas, moved, leftAlone } = knowledgeOf(calls);
  if (canvas === undefined) return read;
  const isSettled = ({ handle }: ReadCard) => moved.has(handle) || leftAlone.has(handle);
  const [slot] = freeSlots(canvas, canvas.cards.filter(isSettled));
  const [card] = canvas.cards
    .filter((card) => !isSettled(card))
    .toSorted((a, b) => row(a, canvas) - row(b, canvas) || a.x - b.x);
  if (card === undefined || slot === undefined) return { type: "say", text: reportOf(canvas, moved, leftAlone) };
  const { handle, title } = card;
  const args = { handle, ...slot };
  return { type: "call", step: `Move ${title}`, tool: "canvas_move", args, target: handle };
}

function knowledgeOf(calls: readonly MadeCall[]): Knowledge {
  let canvas: CanvasReading | undefined;
  const moved = new Set<string>();
  const leftAlone = new Set<string>();
  for (const { tool, args, answer } of calls) {
    if (tool === "canvas_read") canvas = parseCanvas(framedObject(answer));
    if (tool === "changes_since") for (const handle of touchedByPeople(answer)) leftAlone.add(handle);
    if (tool !== "canvas_move") continue;
    const { handle, x, y } = args as { handle: string; x: number; y: number };
    if (callEnd(answer).state !== "done") leftAlone.add(handle);
    else {
      moved.add(handle);
      canvas &&= { ...canvas, cards: canvas.cards.map((card) => (card.handle === handle ? { ...card, x, y } : card)) };
    }
  }
  // Moved by the agent, and by a person after that: it is the person's.
  for (const handle of leftAlone) moved.delete(handle);
  return { canvas, moved, leftAlone };
}

function touchedByPeople(answer: string): string[] {
  const rows = framedObject(answer)?.["changes"];
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row) => {
    const { handle, actor } = (row ?? {}) as { handle?: unknown; actor?: unknown };
    return typeof handle === "string" && actor === "human" ? [handle] : [];
  });
}

function reportOf({ cards }: CanvasReading, moved: ReadonlySet<string>, leftAlone: ReadonlySet<string>): string {
  const titles = cards.filter(({ handle }) => leftAlone.has(handle)).map(({ title }) => title);
  const done = `Done. I lined up ${moved.size === 1 ? "1 card" : `${moved.size} cards`}`;
  return titles.length === 0 ? `${done}.` : `${done}, and left where you put it: ${titles.join(", ")}.`;
}

function row({ y }: ReadCard, { cardHeight }: CanvasReading): number {
  return Math.floor(y / cardHeight);
}
