/** Something to measure: one call does the same work every time, and gives something that depends on it. */
export type Candidate = () => unknown;

const ROUNDS = 75;
const ROUND_NS = 4e6;

export interface Comparison<Name extends string> {
  /** Nanoseconds of one call, the median of all rounds. */
  readonly time: Readonly<Record<Name, number>>;
  /** How many times as long one candidate takes as another: the median of the ratios within a round. */
  readonly ratio: (name: Name, baseline: Name) => number;
}

/** In every round all candidates take their turn, so what else the machine does meets all of them alike. */
export function compare<Name extends string>(candidates: Readonly<Record<Name, Candidate>>): Comparison<Name> {
  const names = Object.keys(candidates) as Name[];
  const calls = new Map(names.map((name) => [name, callsPerRound(candidates[name])]));
  const rounds = Array.from({ length: ROUNDS }, () => {
    const times = names.map((name) => [name, timeOf(candidates[name], calls.get(name) ?? 1)]);
    return Object.fromEntries(times) as Record<Name, number>;
  });
  const medians = names.map((name) => [name, median(rounds.map((round) => round[name]))]);
  return {
    time: Object.fromEntries(medians) as Record<Name, number>,
    ratio: (name, baseline) => median(rounds.map((round) => round[name] / round[baseline])),
  };
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
