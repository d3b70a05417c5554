/** One call of one attachment. */
export type Call = () => Promise<unknown>;

export interface Load {
  /** Calls per second. */
  readonly throughput: number;
  /** Milliseconds. */
  readonly p50: number;
}

/** Every attachment makes one call after the other, all attachments at the same time. */
export async function runLoad(calls: readonly Call[], callsEach: number): Promise<Load> {
  const times: number[] = [];
  const begin = performance.now();
  await Promise.all(
    calls.map(async (call) => {
      for (let n = 0; n < callsEach; n++) {
        const from = performance.now();
        await call();
        times.push(performance.now() - from);
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1_000;
  return { throughput: (calls.length * callsEach) / seconds, p50: median(times) };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}
