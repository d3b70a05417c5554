import type { Change } from "@human-plus/surface";

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
  takeBack(write: Write): void;
  nextLife(): void;
  /** Everything up to now. */
  everything(): Knowledge;
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

  const knows = (knowledge: Knowledge, write: Write) =>
    knowledge.life === write.life && (write.seq <= knowledge.upTo || knowledge.also.has(write.seq));

  const names = ({ handle, alsoTouches = [] }: Change) => [handle, ...alsoTouches];

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
    takeBack(write) {
      writes = writes.filter((other) => other !== write);
    },
    nextLife: () => void life++,
    everything: () => ({ life, upTo: seq, also: new Set() }),
    unknownTo: (knowledge) => writes.filter((write) => write.life === life && !knows(knowledge, write)),
    against(knowledge, writer, declared, changes, containersOf) {
      if (declared === "none") return [];
      const own = (write: Write) => write.hand.name === writer && write.isUnpinned && knows(knowledge, write);
      const unknown = writes.filter((write) => write.life === life && !knows(knowledge, write));
      if (declared === "all") return unknown;
      const touched = [
        ...declared.map((touch) => (typeof touch === "string" ? { handle: touch, contents: false } : touch)),
        ...changes.map(({ handle, kind }) => ({ handle, contents: kind === "deleted" })),
        ...changes.flatMap(({ alsoTouches = [] }) => alsoTouches.map((handle) => ({ handle, contents: false }))),
      ];
      return unknown.filter((write) =>
        touched.some(({ handle, contents }) => {
          const isOn = (name: string) => (at: Change) => names(at).includes(name);
          // What an unpinned write has gone over already stands no more against its own writer.
          const isCovered = (name: string) =>
            writes.some((later) => later.seq > write.seq && own(later) && later.changes.some(isOn(name)));
          if (write.changes.some(isOn(handle)) && !isCovered(handle)) return true;
          if (contents && [...write.around.values()].some((around) => around.has(handle))) return true;
          return [...containersOf(handle)].some(
            (container) =>
              !isCovered(container) &&
              write.changes.some((at) => (at.kind === "moved" || at.kind === "deleted") && isOn(container)(at)),
          );
        }),
      );
    },
  };
}
