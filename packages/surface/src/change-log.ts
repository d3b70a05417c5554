import type { Change, Hand } from "./change.ts";

/** Changes that became real together. */
export interface Commit {
  /** Counts the commits of this life of the surface, from 1. */
  readonly seq: number;
  readonly hand: Hand;
  readonly changes: readonly Change[];
  /** Takes the commit back. */
  readonly undo: (() => void) | undefined;
  /** It was taken back, or takes another one back: together they changed nothing. */
  settled: boolean;
}

/** One change as the history of one handle has it. */
export interface Trace {
  readonly commit: Commit;
  readonly change: Change;
  readonly older: Trace | undefined;
}

interface LinkedTrace extends Trace {
  older: LinkedTrace | undefined;
  newer: LinkedTrace | undefined;
}

/** `self`: the handle changed, or a change said that it also touches it. `inside`: something in it changed. */
type Relation = "self" | "inside";

export interface ChangeLog {
  /** The number of the newest commit; 0 before the first. */
  readonly head: number;
  /** Every commit up to this one was forgotten. */
  readonly forgotten: number;
  /** @param containers the containers of a handle, from the nearest to the outermost */
  append(commit: Omit<Commit, "seq">, containers: (handle: string) => Iterable<string>): Commit;
  /** The newest trace of a handle. */
  newest(relation: Relation, handle: string): Trace | undefined;
  /** A commit that is still known. */
  at(seq: number): Commit | undefined;
}

/**
 * The last commits, with the history of each handle. Appending and finding a handle cost the same however long the log
 * is; deleted handles stay findable.
 *
 * @param maxTraces how much is kept: a change counts one, and one more for each handle it also touches and each
 *   container it is in
 */
export function createChangeLog(maxTraces: number): ChangeLog {
  const commits = new Map<number, { commit: Commit; traces: [Relation, string][] }>();
  const lines = {
    self: new Map<string, { oldest: LinkedTrace; newest: LinkedTrace }>(),
    inside: new Map<string, { oldest: LinkedTrace; newest: LinkedTrace }>(),
  };
  let head = 0;
  let forgotten = 0;
  let size = 0;

  function forgetOldest(): void {
    forgotten++;
    const entry = commits.get(forgotten);
    commits.delete(forgotten);
    for (const [relation, handle] of entry?.traces ?? []) {
      size--;
      const line = lines[relation].get(handle);
      const next = line?.oldest.newer;
      if (line === undefined || next === undefined) {
        lines[relation].delete(handle);
        continue;
      }
      next.older = undefined;
      line.oldest = next;
    }
  }

  return {
    get head() {
      return head;
    },
    get forgotten() {
      return forgotten;
    },
    append(parts, containers) {
      const commit: Commit = { ...parts, seq: ++head };
      const traces: [Relation, string][] = [];
      for (const change of commit.changes) {
        const own = new Set([change.handle, ...(change.alsoTouches ?? [])]);
        const around = new Set(containers(change.handle));
        for (const [relation, handles] of [["self", own] as const, ["inside", around] as const]) {
          for (const handle of handles) {
            const line = lines[relation].get(handle);
            const trace: LinkedTrace = { commit, change, older: line?.newest, newer: undefined };
            if (line === undefined) lines[relation].set(handle, { oldest: trace, newest: trace });
            else {
              line.newest.newer = trace;
              line.newest = trace;
            }
            traces.push([relation, handle]);
          }
        }
      }
      commits.set(head, { commit, traces });
      size += traces.length;
      while (size > maxTraces) forgetOldest();
      return commit;
    },
    newest: (relation, handle) => lines[relation].get(handle)?.newest,
    at: (seq) => commits.get(seq)?.commit,
  };
}
