import { limits } from "@human-plus/core/protocol";

/**
 * What the holder of a marker has read: everything up to the commit `base`, and the commits `seen` after it. A write
 * adds itself to `seen` and leaves `base` where it was, so that it never skips what others changed in between.
 */
export interface Reading {
  readonly base: number;
  /** Ascending, all after `base`. */
  readonly seen: readonly number[];
}

/** The oldest of more commits, or of those that make a marker too long, are forgotten and count as not seen. */
const MAX_SEEN = 200;

export interface Markers {
  mint(reading: Reading): string;
  /** `undefined` for a marker that this life of the surface did not mint. Compared exactly, as text. */
  read(marker: string): Reading | undefined;
}

/** @param life names this life of the surface; a marker of another life is read by nobody */
export function createMarkers(life: string): Markers {
  const mint = ({ base, seen }: Reading) => {
    let kept = seen.slice(-MAX_SEEN);
    for (;;) {
      const steps = [base, ...kept.map((seq, index) => seq - (kept[index - 1] ?? base))];
      const text = [life, ...steps.map((step) => step.toString(36))].join(".");
      if (text.length <= limits.revisionBytes) return text;
      kept = kept.slice(16);
    }
  };
  return {
    mint,
    read(marker) {
      const [base = Number.NaN, ...steps] = marker
        .split(".")
        .slice(1)
        .map((part) => Number.parseInt(part, 36));
      let seq = base;
      const reading = { base, seen: steps.map((step) => (seq += step)) };
      return steps.every((step) => step > 0) && mint(reading) === marker ? reading : undefined;
    },
  };
}

/** Adds commits to a reading and draws together what has no hole in it. */
export function extendReading({ base, seen }: Reading, commits: Iterable<number>): Reading {
  const all = [...new Set([...seen, ...commits])].filter((seq) => seq > base).sort((a, b) => a - b);
  let holes = 0;
  while (all[holes] === base + holes + 1) holes++;
  return { base: base + holes, seen: all.slice(holes) };
}
