import { measureCommit, measureMemory } from "./two-writers/commit-cost.ts";
import { runHour } from "./two-writers/scripted-hour.ts";

// What finer pins spare, and what they cost. `npm run bench:two-writers`.

const SEEDS = [1, 2, 3];

console.log("An hour of 3 people and 2 agents on 200 cards");
console.log("  pins        edits  writes  refused: their card changed  refused: nothing they touch changed");
for (const seed of SEEDS)
  for (const touches of ["handles", "all"] as const) {
    const { edits, writes, refusedForTheirCard, refusedForNothing } = await runHour(touches, seed);
    const name = touches === "handles" ? "by handle" : "one counter";
    console.log(
      `  ${name.padEnd(11)} ${`${edits}`.padStart(5)} ${`${writes}`.padStart(7)} ${`${refusedForTheirCard}`.padStart(28)} ${`${refusedForNothing}`.padStart(36)}`,
    );
  }

console.log("\nOne pinned commit, check included (milliseconds)");
console.log("  entries in the log  handles touched  median     p95");
for (const [entries, touched] of [
  [1_000, 10],
  [100_000, 10],
  [1_000, 1_000],
  [100_000, 1_000],
] as const) {
  const { medianMs, p95Ms } = await measureCommit(entries, touched);
  console.log(
    `  ${`${entries}`.padStart(18)} ${`${touched}`.padStart(16)} ${medianMs.toFixed(4).padStart(7)} ${p95Ms.toFixed(4).padStart(7)}`,
  );
}

console.log("\nMemory that a log holds (MiB)");
console.log("  maxChanges  commits  held");
for (const [maxChanges, commits] of [
  [10_000, 10_000],
  [10_000, 100_000],
  [10_000, 400_000],
  [100_000, 100_000],
  [100_000, 400_000],
] as const)
  console.log(
    `  ${`${maxChanges}`.padStart(10)} ${`${commits}`.padStart(8)} ${(measureMemory(maxChanges, commits) / 1_048_576).toFixed(1).padStart(5)}`,
  );
