import { type Change, type Hand, readChanges } from "./change.ts";
import type { ChangeLog, Commit } from "./change-log.ts";
import { type Conflict, findConflict, touchesOf, type View } from "./touch.ts";

/** What a write has to be fresh against. */
interface Guard extends View {
  /** Turns what stands against the write into what is thrown. */
  readonly refuse: (conflict: Conflict) => Error;
}

interface Write<T> {
  readonly changes: Change | readonly Change[];
  readonly apply: () => T;
  readonly hand: Hand;
  readonly undo?: (() => void) | undefined;
  /** It takes another one back. @default false */
  readonly settled?: boolean | undefined;
  /** @default written whatever changed before */
  readonly guard?: Guard | undefined;
}

export interface Writer {
  /** Checks, applies and records in one tick. Whatever throws, nothing is recorded. */
  write<T>(write: Write<T>): { readonly commit: Commit; readonly value: T };
  /** Records what has already happened. During an `apply`, it becomes a part of that commit. */
  record(changes: Change | readonly Change[], hand: Hand, undo?: () => void): void;
  /** What stands now against a write of somebody with this view. */
  conflict(view: View, changes?: readonly Change[]): Conflict | undefined;
  /** Says that something changed without a commit, if the host's fingerprint shows it. */
  inspect(during: string): void;
}

export interface WriterOptions {
  readonly log: ChangeLog;
  readonly parentOf: ((handle: string) => string | undefined) | undefined;
  readonly fingerprint: (() => unknown) | undefined;
  /** Something changed outside a commit. */
  readonly onOutside: (during: string) => void;
  readonly onCommit: (commit: Commit) => void;
}

const MAX_CONTAINERS = 64;

/** The one way into the log. */
export function createWriter({ log, parentOf, fingerprint, onOutside, onCommit }: WriterOptions): Writer {
  let known = fingerprint?.();
  /** Changes that were recorded while an `apply` runs. */
  let applying: Change[] | undefined;

  function containers(handle: string): Set<string> {
    const found = new Set<string>();
    let at = parentOf?.(handle);
    while (at !== undefined && found.size < MAX_CONTAINERS && !found.has(at)) {
      found.add(at);
      at = parentOf?.(at);
    }
    return found;
  }

  const conflict: Writer["conflict"] = (view, changes = []) =>
    findConflict(log, { ...view, touches: touchesOf(view.touches, changes) }, containers);

  function inspect(during: string): void {
    const current = fingerprint?.();
    if (Object.is(current, known)) return;
    known = current;
    onOutside(during);
  }

  function append(
    changes: Change[],
    hand: Hand,
    { undo, settled = false }: Pick<Write<unknown>, "undo" | "settled">,
    before?: Map<string, Set<string>>,
  ): Commit {
    known = fingerprint?.();
    const commit = log.append({ hand, changes, undo, settled }, (handle) => [
      ...(before?.get(handle) ?? []),
      ...containers(handle),
    ]);
    onCommit(commit);
    return commit;
  }

  return {
    conflict,
    inspect,
    write({ changes: given, apply, hand, undo, settled, guard }) {
      if (applying !== undefined) throw new Error("a commit was made inside the apply of another one");
      const changes = readChanges(given);
      inspect("before a commit");
      const against = guard && conflict(guard, changes);
      if (guard !== undefined && against !== undefined) throw guard.refuse(against);
      const before = new Map(changes.map(({ handle }) => [handle, containers(handle)]));
      const recorded: Change[] = [];
      applying = recorded;
      let value: ReturnType<typeof apply>;
      try {
        value = apply();
        if (isThenable(value)) throw new TypeError("apply must be synchronous: what it awaits is outside the commit");
      } catch (error) {
        inspect("an apply that threw");
        throw error;
      } finally {
        applying = undefined;
      }
      changes.push(...recorded);
      // Whoever hears of the commit may make the next one.
      return { commit: append(changes, hand, { undo, settled }, before), value };
    },
    record(given, hand, undo) {
      const changes = readChanges(given);
      if (applying === undefined) append(changes, hand, { undo });
      else applying.push(...changes);
    },
  };
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
