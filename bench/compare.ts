/** Something to measure: one call does the same work every time, and gives something that depends on it. */
export type Candidate = () => unknown;

const ROUNDS = 25;
const ROUND_NS = 8e6;

/**
 * Nanoseconds of one call of each candidate, as medians. In every round all candidates take their turn, so what else
 * the machine does meets all of them alike.
 */
export function compare<Name extends string>(candidates: Readonly<Record<Name, Candidate>>): Record<Name, number> {
  const names = Object.keys(candidates) as Name[];
  const calls = new Map(names.map((name) => [name, callsPerRound(candidates[name])]));
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) times.get(name)?.push(timeOf(candidates[name], calls.get(name) ?? 1));
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<Name, number>;
}

function callsPerRound(candidate: Candidate): number {
  let calls = 1;
  for (let warm = 0; warm < 4; ) {
    const time = timeOf(candidate, calls) * calls;
    if (time < ROUND_NS / 2) calls *= 2;
    else warm++;
  }
  return calls;
}

let sink: unknown;

function timeOf(candidate: Candidate, calls: number): number {
  const start = process.hrtime.bigint();
  for (let call = 0; call < calls; call++) sink = candidate();
  const time = Number(process.hrtime.bigint() - start) / calls;
  if (sink === compare) throw new Error("what a candidate gives is used, so it cannot be left out");
  return time;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
