import type { Change } from "@human-plus/surface";
import type { Item } from "./board.ts";

/** What a tool of the board says that it works on. */
export type Declared = "all" | "none" | readonly (string | { readonly handle: string; readonly contents: boolean })[];

export interface Hand {
  readonly type: "human" | "agent";
  readonly name: string;
}

/** One write as it really happened. */
export interface Write {
  /** Counts all writes, over all lives of the page. */
  readonly seq: number;
  /** Which life of the page. */
  readonly life: number;
  readonly hand: Hand;
  readonly changes: readonly Change[];
  /** The containers of each changed handle, before the write and after it. */
  readonly around: ReadonlyMap<string, ReadonlySet<string>>;
  /** It was made without a pin. */
  readonly isUnpinned: boolean;
  /** It can be taken back. */
  readonly canBeUndone: boolean;
  /** Everything on the board before it. */
  readonly before: ReadonlyMap<string, Item>;
  /** The story's words for it. */
  readonly words: string;
}

/** What the holder of a marker has read, as can be seen from outside: never taken from the marker itself. */
export interface Knowledge {
  readonly life: number;
  /** Every write up to this one. */
  readonly upTo: number;
  /** Later writes. */
  readonly also: ReadonlySet<number>;
}

/** The truth about all writes, and who has read what. It knows nothing of how a surface keeps its log. */
export interface Ledger {
  readonly writes: readonly Write[];
  readonly life: number;
  begin(write: Omit<Write, "seq" | "life">): Write;
  /** An apply that ran before its write was refused. */
  forget(write: Write): void;
  /** One write was undone by the other: together they changed nothing. */
  settle(undone: Write, undo: Write): void;
  /** What somebody did last in this life, without what was undone, and without undoing. */
  latestOf(name: string): Write | undefined;
  /** The later writes that stand against undoing one. */
  againstUndo(target: Write, changes: readonly Change[], containersOf: (handle: string) => Set<string>): Write[];
  nextLife(): void;
  /** Everything up to now. */
  everything(): Knowledge;
  knows(knowledge: Knowledge, write: Write): boolean;
  /** What both know together. */
  join(left: Knowledge, right: Knowledge): Knowledge;
  /** What of this life is not known. */
  unknownTo(knowledge: Knowledge): Write[];
  /** The writes that stand against one with these touches by somebody who knows this. */
  against(
    knowledge: Knowledge,
    writer: string,
    declared: Declared,
    changes: readonly Change[],
    containersOf: (handle: string) => Set<string>,
  ): Write[];
}

export function createLedger(): Ledger {
  let writes: Write[] = [];
  let seq = 0;
  let life = 0;
  const settled = new Set<Write>();

  const knows = (knowledge: Knowledge, write: Write) =>
    knowledge.life === write.life && (write.seq <= knowledge.upTo || knowledge.also.has(write.seq));

  return {
    get writes() {
      return writes;
    },
    get life() {
      return life;
    },
    begin(parts) {
      const write: Write = { ...parts, seq: ++seq, life };
      writes.push(write);
      return write;
    },
    forget(write) {
      writes = writes.filter((other) => other !== write);
    },
    settle: (undone, undo) => void settled.add(undone).add(undo),
    latestOf: (name) =>
      writes.findLast((write) => write.life === life && write.hand.name === name && !settled.has(write)),
    againstUndo(target, changes, containersOf) {
      const later = writes.filter((write) => write.seq > target.seq && !settled.has(write));
      return conflicting(later, touchedBy(changes), containersOf, () => false);
    },
    nextLife: () => void life++,
    everything: () => ({ life, upTo: seq, also: new Set() }),
    knows,
    join: (left, right) =>
      left.life !== right.life
        ? right
        : { life, upTo: Math.max(left.upTo, right.upTo), also: new Set([...left.also, ...right.also]) },
    unknownTo: (knowledge) => writes.filter((write) => write.life === life && !knows(knowledge, write)),
    against(knowledge, writer, declared, changes, containersOf) {
      if (declared === "none") return [];
      const own = (write: Write) => write.hand.name === writer && write.isUnpinned && knows(knowledge, write);
      const unknown = writes.filter((write) => write.life === life && !knows(knowledge, write));
      if (declared === "all") return unknown;
      const touched = [
        ...declared.map((touch) => (typeof touch === "string" ? { handle: touch, contents: false } : touch)),
        ...touchedBy(changes),
      ];
      // What an unpinned write has gone over already stands no more against its own writer.
      return conflicting(unknown, touched, containersOf, (write, name) =>
        writes.some((later) => later.seq > write.seq && own(later) && later.changes.some(isOn(name))),
      );
    },
  };
}

interface Touched {
  readonly handle: string;
  readonly contents: boolean;
}

const isOn =
  (name: string) =>
  ({ handle, alsoTouches = [] }: Change) =>
    handle === name || alsoTouches.includes(name);

function touchedBy(changes: readonly Change[]): Touched[] {
  return [
    ...changes.map(({ handle, kind }) => ({ handle, contents: kind === "deleted" })),
    ...changes.flatMap(({ alsoTouches = [] }) => alsoTouches.map((handle) => ({ handle, contents: false }))),
  ];
}

/** Which of the writes are on something that is touched, on a container of it, or on what is in it. */
function conflicting(
  writes: readonly Write[],
  touched: readonly Touched[],
  containersOf: (handle: string) => Set<string>,
  isCovered: (write: Write, name: string) => boolean,
): Write[] {
  return writes.filter((write) =>
    touched.some(({ handle, contents }) => {
      if (write.changes.some(isOn(handle)) && !isCovered(write, handle)) return true;
      if (contents && [...write.around.values()].some((around) => around.has(handle))) return true;
      return [...containersOf(handle)].some(
        (container) =>
          !isCovered(write, container) &&
          write.changes.some((at) => (at.kind === "moved" || at.kind === "deleted") && isOn(container)(at)),
      );
    }),
  );
}
