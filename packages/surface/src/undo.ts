import type { Change, Hand } from "./change.ts";
import type { ChangeLog, Commit } from "./change-log.ts";
import type { Writer } from "./writer.ts";

/** What became of an undo. */
export type UndoOutcome =
  | { readonly undone: true; readonly changes: readonly Change[] }
  | {
      readonly undone: false;
      /**
       * `nothing_to_undo`: no change of theirs is known. `cannot_be_undone`: the latest one came without an undo.
       * `changed_since`: somebody touched the same things after it.
       */
      readonly reason: "nothing_to_undo" | "cannot_be_undone" | "changed_since";
      /** What changed since. */
      readonly changes: readonly Change[];
    };

/** Takes back the latest change of one hand, if nobody touched the same things since. Tells the number of its own commit. */
export function undoLatest(
  log: ChangeLog,
  writer: Writer,
  { ofHand, by, wrote }: { ofHand: (hand: Hand) => boolean; by: Hand; wrote?: (seq: number) => void },
): UndoOutcome {
  const latest = latestOf(log, ofHand);
  if (latest === undefined) return { undone: false, reason: "nothing_to_undo", changes: [] };
  if (latest.undo === undefined) return { undone: false, reason: "cannot_be_undone", changes: [] };
  const changes = latest.changes.map((change): Change => ({ ...change, kind: inverse(change.kind) }));
  const view = {
    touches: [],
    base: latest.seq,
    isSeen: (commit: Commit) => commit.settled,
    seenIsChecked: false,
  };
  const against = writer.conflict(view, changes);
  if (against !== undefined)
    return { undone: false, reason: "changed_since", changes: against.found.map(({ change }) => change) };
  latest.settled = true; // whoever hears of the commit may undo the one before
  try {
    const { commit } = writer.write({ changes, apply: latest.undo, hand: by, settled: true });
    wrote?.(commit.seq);
  } catch (error) {
    latest.settled = false;
    throw error;
  }
  return { undone: true, changes };
}

function latestOf(log: ChangeLog, ofHand: (hand: Hand) => boolean): Commit | undefined {
  for (let seq = log.head; seq > log.forgotten; seq--) {
    const commit = log.at(seq);
    if (commit !== undefined && !commit.settled && ofHand(commit.hand)) return commit;
  }
  return undefined;
}

function inverse(kind: Change["kind"]): Change["kind"] {
  if (kind === "created") return "deleted";
  return kind === "deleted" ? "created" : kind;
}
