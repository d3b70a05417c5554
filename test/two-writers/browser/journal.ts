/** A write as the page that made it remembers it: what the test holds the feeds against. */
export interface JournalEntry {
  /** `human`, or the participant id of the agent. */
  readonly hand: string;
  readonly handle: string;
  readonly kind: "created" | "updated" | "moved";
}

/** What a page shows the test. */
export interface BoardState {
  /** `open` once agents can reach it. */
  readonly status: string;
  readonly cards: Readonly<Record<string, { readonly text: string; readonly x: number; readonly y: number }>>;
  readonly journal: readonly JournalEntry[];
}
