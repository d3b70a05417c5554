import { isDeepStrictEqual } from "node:util";
import type { Change, CommitOptions, UndoOutcome } from "@human-plus/surface";
import type { Board, Edit } from "./board.ts";
import type { Hand, Ledger, Write } from "./ledger.ts";
import { listOf, type Story } from "./story.ts";

/** One edit, as a commit of the surface takes it. */
export interface Writing {
  readonly edit: Edit;
  readonly apply: () => void;
  readonly options: CommitOptions;
  /** What came of it, once it was applied. */
  readonly written: Write | undefined;
}

/** The way of edits onto the board, and off it again. */
export interface WritingDesk {
  prepare(hand: Hand, edit: Edit, how?: { isUnpinned?: boolean; isFinal?: boolean | undefined }): Writing;
  /** Lets the surface undo what somebody did last, and holds its decision against the truth. Nothing if it says no. */
  undo(of: string, by: Hand, act: () => UndoOutcome): Write | undefined;
}

export interface WritingDeskOptions {
  readonly board: Board;
  readonly ledger: Ledger;
  readonly story: Story;
  /** The surface's log has forgotten nothing. */
  readonly holdsAll: () => boolean;
}

type Reason = Extract<UndoOutcome, { undone: false }>["reason"];

export function createWritingDesk({ board, ledger, story, holdsAll }: WritingDeskOptions): WritingDesk {
  /** While the surface decides an undo: whose it is, and what it did. */
  let undoing: { readonly by: Hand; readonly done: { target: Write; undo: Write }[] } | undefined;

  function write(hand: Hand, edit: Edit, isUnpinned: boolean, canBeUndone: boolean): [Write, () => void] {
    const { changes } = edit;
    const around = new Map(changes.map(({ handle }) => [handle, board.containersOf(handle)]));
    const words = `${hand.name} ${edit.words}`;
    const before = board.snapshot();
    const written = ledger.begin({ hand, changes, around, isUnpinned, canBeUndone, before, words });
    const takeBack = edit.apply();
    for (const [handle, old] of around) for (const container of board.containersOf(handle)) old.add(container);
    return [written, takeBack];
  }

  /** The surface takes a write back. */
  function takeBack(target: Write, apply: () => void): void {
    if (undoing === undefined) throw new Error("the surface undoes what nobody asked for");
    const { by, done } = undoing;
    const changes = inverse(target.changes);
    const later = ledger.againstUndo(target, changes, board.containersOf);
    const words = `undoes that ${target.words}`;
    if (later.length > 0)
      story.blame(
        "an undo changes nothing that somebody touched since",
        `${by.name} ${words}: done, although ${listOf(later.map((write) => write.words))} after it`,
      );
    const edit: Edit = {
      changes,
      words,
      apply() {
        apply();
        return () => {};
      },
    };
    const [undo] = write(by, edit, true, false);
    ledger.settle(target, undo);
    done.push({ target, undo });
  }

  /** Why the surface may say that it cannot undo a write. */
  function reasonAgainst(target: Write | undefined): Reason | undefined {
    if (target === undefined) return "nothing_to_undo";
    if (!target.canBeUndone) return "cannot_be_undone";
    return ledger.againstUndo(target, inverse(target.changes), board.containersOf).length > 0
      ? "changed_since"
      : undefined;
  }

  return {
    prepare(hand, edit, { isUnpinned = false, isFinal = false } = {}) {
      let written: Write | undefined;
      let undo = () => {};
      return {
        edit,
        apply: () => {
          [written, undo] = write(hand, edit, isUnpinned, !isFinal);
        },
        options: isFinal ? {} : { undo: () => takeBack(written as Write, undo) },
        get written() {
          return written;
        },
      };
    },
    undo(of, by, act) {
      const target = ledger.latestOf(of);
      const reason = reasonAgainst(target);
      const before = board.snapshot();
      const what = `what ${of} did last${target === undefined ? "" : ` (${target.words})`}`;
      const done: { target: Write; undo: Write }[] = [];
      undoing = { by, done };
      const outcome = act();
      undoing = undefined;
      const after = board.snapshot();
      if (!outcome.undone) {
        story.tell(`${by.name} cannot undo ${what}: ${outcome.reason}`);
        if (done.length > 0 || !isDeepStrictEqual(after, before))
          story.blame("an undo that says no changes nothing", `${by.name} cannot undo ${what}, although it was undone`);
        const isForgotten = outcome.reason === "nothing_to_undo" && !holdsAll();
        if (outcome.reason !== reason && !isForgotten)
          story.blame(
            "an undo says no for its reason only",
            `${by.name} cannot undo ${what}: ${outcome.reason}, although it is ${reason ?? "untouched since"}`,
          );
        return undefined;
      }
      story.tell(`${by.name} undoes ${what}`);
      const [first, ...more] = done;
      if (first === undefined || more.length > 0 || first.target !== target)
        story.blame(
          "an undo takes back the latest change of one hand, once",
          `${by.name} undoes ${what}: done, although it undid ${listOf(done.map((write) => write.target.words))}`,
        );
      const touched = new Set(target?.changes.flatMap(({ handle, alsoTouches = [] }) => [handle, ...alsoTouches]));
      for (const handle of new Set([...before.keys(), ...after.keys(), ...touched])) {
        const right = touched.has(handle) ? target?.before.get(handle) : before.get(handle);
        if (!isDeepStrictEqual(after.get(handle), right))
          story.blame(
            "an undo restores exactly what the change replaced",
            `${by.name} undoes ${what}: ${handle} is ${JSON.stringify(after.get(handle))}, although it was ${JSON.stringify(right)}`,
          );
      }
      return first?.undo;
    },
  };
}

const inverseKinds = { created: "deleted", deleted: "created", updated: "updated", moved: "moved" } as const;

function inverse(changes: readonly Change[]): Change[] {
  return changes.map((change) => ({ ...change, kind: inverseKinds[change.kind] }));
}
