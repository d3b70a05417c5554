import { assertHandle, type Change } from "./change.ts";
import type { ChangeLog, Commit, Trace } from "./change-log.ts";

/** A handle; with `contents`, everything inside it as well. */
export type Touch = string | { readonly handle: string; readonly contents: boolean };

/** What a call works on: some handles, everything, or nothing (it only reads). */
export type Touches = "all" | "none" | readonly Touch[];

/** What stands against a write. */
export interface Conflict {
  readonly found: ReadonlyArray<{ readonly commit: Commit; readonly change: Change }>;
  /** The log knows of everything that stands against it. */
  readonly complete: boolean;
}

/** Rows of one refusal. */
const MAX_FOUND = 100;

/** What a write touches: what its tool said, and what its changes name. Deleting a container touches what is in it. */
export function touchesOf(declared: Touches, changes: readonly Change[]): Touches {
  if (declared === "all" || declared === "none") return declared;
  const named = changes.flatMap(({ handle, kind, alsoTouches = [] }): Touch[] => [
    { handle, contents: kind === "deleted" },
    ...alsoTouches,
  ]);
  return [...declared, ...named];
}

/** What somebody works on, and what they have read. */
export interface View {
  readonly touches: Touches;
  /** Everything up to this commit was read. */
  readonly base: number;
  /** Whether a later commit was. */
  readonly isSeen: (commit: Commit) => boolean;
  /** Whoever made a commit that was seen had checked what it touches, so that what is older there was seen too. */
  readonly seenIsChecked: boolean;
}

/**
 * Finds what stands against a write of somebody with this view, or `undefined`. A touched handle conflicts with a change
 * of itself, with a container of it that was moved or deleted, and, with `contents`, with a change of anything in it.
 */
export function findConflict(
  log: ChangeLog,
  { touches, base, isSeen, seenIsChecked }: View,
  containers: (handle: string) => Iterable<string>,
): Conflict | undefined {
  if (touches === "none") return undefined;
  const found = new Map<Change, Commit>();
  const add = (commit: Commit, change: Change) => {
    if (!isSeen(commit) && found.size < MAX_FOUND) found.set(change, commit);
  };
  const follow = (newest: Trace | undefined, endsAtSeen: boolean, counts: (change: Change) => boolean = () => true) => {
    for (let at = newest; at !== undefined && at.commit.seq > base && found.size < MAX_FOUND; at = at.older) {
      if (endsAtSeen && isSeen(at.commit)) return;
      if (counts(at.change)) add(at.commit, at.change);
    }
  };
  if (touches === "all") {
    for (let seq = log.head; seq > base && seq > log.forgotten && found.size < MAX_FOUND; seq--) {
      const commit = log.at(seq);
      for (const change of commit?.changes ?? []) add(commit as Commit, change);
    }
  } else {
    // What agents name may repeat itself: each history is followed once.
    const followed = new Set<string>();
    const isNew = (history: string) => followed.size < followed.add(history).size;
    for (const touch of touches) {
      const { handle, contents } = typeof touch === "string" ? { handle: touch, contents: false } : touch;
      assertHandle(handle);
      if (contents && isNew(`in ${handle}`)) follow(log.newest("inside", handle), false);
      if (!isNew(`of ${handle}`)) continue;
      follow(log.newest("self", handle), seenIsChecked);
      for (const container of containers(handle)) {
        if (isNew(`on ${container}`))
          follow(log.newest("self", container), seenIsChecked, ({ kind }) => kind === "moved" || kind === "deleted");
      }
    }
  }
  const complete = base >= log.forgotten && found.size < MAX_FOUND;
  if (complete && found.size === 0) return undefined;
  return { complete, found: [...found].map(([change, commit]) => ({ change, commit })) };
}
