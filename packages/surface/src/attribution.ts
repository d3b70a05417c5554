import type { ChangeActor, ChangeRow } from "@human-plus/core/protocol";
import type { Change, Hand } from "./change.ts";
import type { ChangeLog, Commit } from "./change-log.ts";
import { extendReading, type Reading } from "./marker.ts";

/** Whose hand it was, for whoever asks. PROTOCOL.md section 6. */
function actorFor(asker: string | undefined, hand: Hand): ChangeActor {
  if (hand.type === "human") return "human";
  return hand.type === "agent" && hand.id !== undefined && hand.id === asker ? "agent" : "other";
}

export function rowFor(asker: string | undefined, { hand }: Pick<Commit, "hand">, change: Change): ChangeRow {
  const { handle, kind, label } = change;
  return { handle, kind, actor: actorFor(asker, hand), ...(label !== undefined && { label }) };
}

export interface FeedAnswer {
  readonly changes: ChangeRow[];
  readonly complete: boolean;
  readonly reason: string | undefined;
  /** What the asker has read once it has this answer. */
  readonly reading: Reading;
}

export interface FeedQuestion {
  readonly asker: string | undefined;
  /** @default from the beginning of what is known */
  readonly since: Reading | undefined;
  /** The marker that came is of another life of the surface. */
  readonly foreign: boolean;
  /** Rows of the same handle, kind and hand become one, at the place of the last. */
  readonly coalesce: boolean;
}

/** JSON text of the rows of one answer, in characters: with its copy for the model it stays below one frame. */
const MAX_ANSWER_CHARACTERS = 30_000;

/** What changed since a marker, in order; as much as one answer holds. */
export function answerFeed(log: ChangeLog, { asker, since, foreign, coalesce }: FeedQuestion): FeedAnswer {
  const { base, seen } = since ?? { base: 0, seen: [] };
  const rows = new Map<unknown, ChangeRow>();
  let size = 0;
  let last = Math.max(base, log.forgotten);
  let cut = false;
  for (; last < log.head; last++) {
    const commit = log.at(last + 1);
    if (commit === undefined || seen.includes(commit.seq)) continue;
    const added = commit.changes.map((change) => [change, rowFor(asker, commit, change)] as const);
    const more = added.reduce((sum, [, row]) => sum + JSON.stringify(row).length, 0);
    if (rows.size > 0 && size + more > MAX_ANSWER_CHARACTERS) break;
    size += more;
    for (const [change, row] of added) {
      const key = coalesce ? JSON.stringify([row.handle, row.kind, row.actor]) : change;
      rows.delete(key);
      rows.set(key, row);
    }
  }
  const changes = [...rows.values()];
  for (; size > MAX_ANSWER_CHARACTERS && changes.length > 0; cut = true) size -= JSON.stringify(changes.pop()).length;
  const reason = foreign
    ? "The marker is of an earlier life of this surface: read everything again."
    : base < log.forgotten
      ? "The log no longer reaches back that far: read everything again."
      : cut
        ? "More things changed at once than one answer holds: read everything again."
        : last < log.head
          ? "There is more: ask again with the marker of this answer."
          : undefined;
  return {
    changes,
    complete: reason === undefined,
    reason,
    reading: extendReading({ base: last, seen: [] }, seen),
  };
}
