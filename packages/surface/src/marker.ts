/**
 * What the holder of a marker has read: everything up to the commit `base`, and the commits `seen` after it. A write
 * adds itself to `seen` and leaves `base` where it was, so that it never skips what others changed in between.
 */
export interface Reading {
  readonly base: number;
  /** Ascending, all after `base`. */
  readonly seen: readonly number[];
}

/** Markers stay under the contract's 512 bytes with this many; older ones are forgotten, and count as not seen. */
export const MAX_SEEN = 40;

export interface Markers {
  mint(reading: Reading): string;
  /** `undefined` for a marker that this life of the surface did not mint. Compared exactly, as text. */
  read(marker: string): Reading | undefined;
}

/** @param life names this life of the surface; a marker of another life is read by nobody */
export function createMarkers(life: string): Markers {
  const mint = ({ base, seen }: Reading) =>
    [life, ...[base, ...seen.map((seq) => seq - base)].map((part) => part.toString(36))].join(".");
  return {
    mint,
    read(marker) {
      const [base = Number.NaN, ...offsets] = marker
        .split(".")
        .slice(1)
        .map((part) => Number.parseInt(part, 36));
      const reading = { base, seen: offsets.map((offset) => base + offset) };
      return mint(reading) === marker ? reading : undefined;
    },
  };
}

/** Adds commits to a reading and draws together what has no hole in it. */
export function extendReading({ base, seen }: Reading, commits: Iterable<number>): Reading {
  const all = [...new Set([...seen, ...commits])].filter((seq) => seq > base).sort((a, b) => a - b);
  let holes = 0;
  while (all[holes] === base + holes + 1) holes++;
  return { base: base + holes, seen: all.slice(holes).slice(-MAX_SEEN) };
}
