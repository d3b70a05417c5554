import { createSurface } from "@human-plus/surface";
import { joinBoard } from "./local-agent.ts";

export interface CommitCost {
  /** Of one commit with its check, in milliseconds. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

const ROUNDS = 400;

/** What a pinned commit costs when the log is full and the call touches many handles. */
export async function measureCommit(entries: number, touched: number): Promise<CommitCost> {
  const handles = Array.from({ length: touched }, (_, index) => `card ${index}`);
  const surface = createSurface({ id: "board", application: "bench", maxChanges: entries });
  for (let index = 0; index < entries; index++)
    surface.commit({ handle: `card ${index % (touched * 5)}`, kind: "updated" }, () => {});
  const samples: number[] = [];
  surface.tool({ name: "read", touches: "none", handler: () => "all cards" });
  surface.tool({
    name: "write",
    touches: handles,
    handler(_, call) {
      const start = performance.now();
      call.commit({ handle: "card 0", kind: "updated" }, () => {});
      samples.push(performance.now() - start);
      return "written";
    },
  });
  const agent = joinBoard(surface, "agent");
  let { revision } = await agent.call("read", {});
  for (let round = 0; round < ROUNDS; round++) {
    // A person's edit elsewhere in between: the marker gets a hole, and the check has something to look past.
    surface.commit({ handle: `other ${round}`, kind: "updated" }, () => {});
    const answer = await agent.call("write", {}, revision);
    if (answer.isStale) throw new Error("a write was refused in a benchmark of writes");
    revision = answer.revision;
  }
  surface.close();
  samples.sort((a, b) => a - b);
  return { medianMs: at(samples, 0.5), p95Ms: at(samples, 0.95) };
}

/** How much memory a surface holds on to after so many commits, in bytes. */
export function measureMemory(maxChanges: number, commits: number): number {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error("start node with --expose-gc");
  collect();
  collect();
  const before = process.memoryUsage().heapUsed;
  const surface = createSurface({ id: "board", application: "bench", maxChanges });
  for (let index = 0; index < commits; index++)
    surface.commit({ handle: `card ${index}`, kind: "updated", label: `Card ${index}` }, () => {});
  collect();
  collect();
  const held = process.memoryUsage().heapUsed - before;
  surface.close();
  return held;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
