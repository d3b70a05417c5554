import type { Card } from "./canvas-store.ts";

/** What lies on a new canvas: useful things, in no order. */
export const firstCards: readonly Card[] = [
  { handle: "budget", title: "Budget", text: "600 for three days, trains included.", x: 396, y: 48 },
  { handle: "travel", title: "Travel", text: "Night train on Thursday, back on Sunday.", x: 76, y: 22 },
  { handle: "museums", title: "Museums", text: "Tiles on Friday. Book the early slot.", x: 668, y: 96 },
  { handle: "dinner", title: "Dinner", text: "Table for four, by the river.", x: 232, y: 184 },
  { handle: "markets", title: "Markets", text: "Saturday morning, before the shower.", x: 508, y: 232 },
  { handle: "packing", title: "Packing", text: "Rain jackets, good shoes, the camera.", x: 596, y: 388 },
  { handle: "weather", title: "Weather", text: "22 degrees, wind. A shower on Saturday.", x: 48, y: 336 },
  { handle: "old-notes", title: "Old notes", text: "From last year. Nothing here is still true.", x: 318, y: 424 },
];
