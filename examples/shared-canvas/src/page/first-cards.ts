import type { Card } from "./canvas-store.ts";

/** What lies on a new canvas: useful things, in no order. */
export const firstCards: readonly Card[] = [
  { handle: "budget", title: "Budget", text: "600 for three days, trains included.", x: 396, y: 58 },
  { handle: "travel", title: "Travel", text: "Night train on Thursday, back on Sunday.", x: 76, y: 28 },
  { handle: "museums", title: "Museums", text: "Tiles on Friday. Book the early slot.", x: 640, y: 214 },
  { handle: "dinner", title: "Dinner", text: "Table for four, somewhere by the river.", x: 250, y: 236 },
  { handle: "packing", title: "Packing", text: "Rain jackets, good shoes, the small camera.", x: 548, y: 396 },
  { handle: "weather", title: "Weather", text: "22 degrees and wind. A shower on Saturday.", x: 48, y: 364 },
  { handle: "old-notes", title: "Old notes", text: "From last year. Nothing here is still true.", x: 318, y: 492 },
];
