import type { ChangeKind } from "@human-plus/core/protocol";

/** One change of one thing, as the application tells it. */
export interface Change {
  /** The stable name of what changed: 1 to 256 characters, not blank. */
  handle: string;
  /** What happened to it. */
  kind: Exclude<ChangeKind, "unknown">;
  /** A name for people; cut to 256 characters. */
  label?: string | undefined;
  /**
   * Other handles whose state this change decides: the items of a list that was reordered, what stood in a container
   * that was deleted. A call pinned before the change and touching one of them is refused. @default none
   */
  alsoTouches?: readonly string[] | undefined;
}

/** Whose hand it was. A system is an import, a job, a default: neither a person nor an agent. */
export type Hand =
  | { readonly type: "human"; readonly id?: string | undefined; readonly name?: string | undefined }
  | { readonly type: "agent"; readonly id?: string | undefined }
  | { readonly type: "system"; readonly id?: string | undefined };

/** Changes of one commit. */
const MAX_COMMIT_CHANGES = 1_000;
const MAX_TEXT = 256;

/** Copies and bounds what the application said. @throws TypeError */
export function readChanges(changes: Change | readonly Change[]): Change[] {
  const list: readonly Change[] = "handle" in changes ? [changes] : changes;
  if (list.length > MAX_COMMIT_CHANGES) throw new TypeError(`a commit has at most ${MAX_COMMIT_CHANGES} changes`);
  return list.map(({ handle, kind, label, alsoTouches = [] }) => {
    for (const name of [handle, ...alsoTouches]) assertHandle(name);
    return { handle, kind, label: label?.slice(0, MAX_TEXT) || undefined, alsoTouches };
  });
}

/** @throws TypeError */
export function assertHandle(handle: string): void {
  if (typeof handle !== "string" || handle.trim() === "" || handle.length > MAX_TEXT)
    throw new TypeError(`a handle is text of 1 to ${MAX_TEXT} characters, not blank`);
}
