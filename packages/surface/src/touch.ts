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

/**
 * Finds what changed after `base` and stands against a write, or `undefined`. A touched handle conflicts with a change
 * of itself, with a container of it that was moved or deleted, and, with `contents`, with a change of anything in it.
 *
 * @param isSeen commits after `base` that do not count
 */
export function findConflict(
  log: ChangeLog,
  touches: Touches,
  base: number,
  isSeen: (commit: Commit) => boolean,
  containers: (handle: string) => Iterable<string>,
): Conflict | undefined {
  if (touches === "none") return undefined;
  const found = new Map<Change, Commit>();
  const add = (commit: Commit, change: Change) => {
    if (!isSeen(commit) && found.size < MAX_FOUND) found.set(change, commit);
  };
  const follow = (trace: Trace | undefined, counts: (change: Change) => boolean = () => true) => {
    for (let at = trace; at !== undefined && at.commit.seq > base; at = at.older)
      if (counts(at.change)) add(at.commit, at.change);
  };
  if (touches === "all") {
    for (let seq = log.head; seq > base && seq > log.forgotten && found.size < MAX_FOUND; seq--) {
      const commit = log.at(seq);
      for (const change of commit?.changes ?? []) add(commit as Commit, change);
    }
  } else {
    for (const touch of touches) {
      const { handle, contents } = typeof touch === "string" ? { handle: touch, contents: false } : touch;
      assertHandle(handle);
      follow(log.newest("self", handle));
      if (contents) follow(log.newest("inside", handle));
      for (const container of containers(handle))
        follow(log.newest("self", container), ({ kind }) => kind === "moved" || kind === "deleted");
    }
  }
  const complete = base >= log.forgotten && found.size < MAX_FOUND;
  if (complete && found.size === 0) return undefined;
  return { complete, found: [...found].map(([change, commit]) => ({ change, commit })) };
}
