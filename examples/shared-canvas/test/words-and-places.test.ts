import type { HistoryEntry } from "@human-plus/surface";
import { describe, expect, test } from "vitest";
import { freeSlots } from "../src/agent/free-slots.ts";
import { toActivityLines } from "../src/page/activity-lines.ts";
import { inkOn } from "../src/page/agent-color.ts";
import { canvasSize } from "../src/page/canvas-store.ts";
import { freePosition } from "../src/page/free-position.ts";

const moved = (at: number, label: string, by?: string): HistoryEntry => ({
  type: "change",
  at,
  change: { handle: label.toLowerCase(), kind: "moved", label },
  hand: by === undefined ? { type: "human" } : { type: "agent", id: by },
  by,
});

describe("the activity log", () => {
  test("says in plain words who did what, and why something was refused", () => {
    const refused: HistoryEntry = {
      type: "refused",
      at: 3,
      tool: "canvas_move",
      participantId: "t",
      by: "Tidy",
      changes: [{ handle: "budget", kind: "moved", actor: "human", label: "Budget" }],
    };
    const lines = toActivityLines(
      [moved(1, "Travel", "Tidy"), moved(2, "Budget"), refused],
      [{ type: "joined", at: 0, by: "Tidy" }],
    );
    expect(lines.map(({ text }) => text)).toEqual([
      "Tidy joined",
      "Tidy moved Travel",
      "You moved Budget",
      "Refused: you moved Budget while Tidy was working",
    ]);
  });

  test("tells the same thing done again at once in one line that keeps its key", () => {
    const [first] = toActivityLines([moved(1, "Budget")], []);
    const lines = toActivityLines([moved(1, "Budget"), moved(9, "Budget")], []);
    expect(lines).toEqual([{ ...first, at: 9 }]);
  });
});

const overlaps = (a: { x: number; y: number }, b: { x: number; y: number }) =>
  Math.abs(a.x - b.x) < canvasSize.cardWidth && Math.abs(a.y - b.y) < canvasSize.cardHeight;

test("slots lie on the canvas, and cover neither each other nor what has to stay", () => {
  const staying = [{ x: 300, y: 210 }];
  const slots = freeSlots({ ...canvasSize, cards: [] }, staying);
  expect(slots.length).toBeGreaterThan(6);
  for (const [index, slot] of slots.entries()) {
    expect(slot.x + canvasSize.cardWidth).toBeLessThanOrEqual(canvasSize.width);
    expect(slot.y + canvasSize.cardHeight).toBeLessThanOrEqual(canvasSize.height);
    for (const other of [...staying, ...slots.slice(index + 1)]) expect(overlaps(slot, other)).toBe(false);
  }
});

test("a new card covers no other one", () => {
  const middle = { handle: "m", title: "", text: "", x: 400, y: 240 };
  expect(overlaps(freePosition([middle]), middle)).toBe(false);
});

test.each([
  ["#000", "#ffffff"],
  ["#3554d1", "#ffffff"],
  ["#ffe08a", "#000000"],
])("on %s, %s can be read", (color, ink) => {
  expect(inkOn(color)).toBe(ink);
});
