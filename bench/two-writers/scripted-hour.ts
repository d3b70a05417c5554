import type { JsonObject } from "@human-plus/core/protocol";
import { createSurface } from "@human-plus/surface";
import { joinBoard } from "./local-agent.ts";
import { createRandom } from "./random.ts";

export interface HourResult {
  readonly edits: number;
  readonly writes: number;
  /** Calls that were refused and whose card had changed since it was read. */
  readonly refusedForTheirCard: number;
  /** Calls that were refused although nobody had touched their card. */
  readonly refusedForNothing: number;
}

const CARDS = 200;
const PEOPLE = 3;
const AGENTS = 2;
const HOUR_MS = 3_600_000;

/** Three people and two agents on two hundred cards, for an hour of a clock that does not wait. The same seed is the same hour. */
export async function runHour(touches: "handles" | "all", seed: number): Promise<HourResult> {
  const random = createRandom(seed);
  const upTo = (max: number) => Math.floor(random() * max);
  const card = () => `card ${upTo(CARDS)}`;
  let time = 0;
  const changedAt = new Map<string, number>();
  const surface = createSurface({ id: "board", application: "bench", now: () => time, activityIntervalMs: HOUR_MS });
  surface.tool({ name: "read", touches: "none", handler: () => "all cards" });
  surface.tool<{ card: string }>({
    name: "write",
    touches: ({ card }) => (touches === "all" ? "all" : [card]),
    handler({ card }, call) {
      call.commit({ handle: card, kind: "updated" }, () => {});
      return "written";
    },
  });
  const result = { edits: 0, writes: 0, refusedForTheirCard: 0, refusedForNothing: 0 };
  const due: { at: number; run: () => void | Promise<void> }[] = [];
  const later = (ms: number, run: () => void | Promise<void>) => void due.push({ at: time + ms, run });

  function edit(): void {
    const handle = card();
    surface.commit({ handle, kind: "updated" }, () => changedAt.set(handle, time));
    result.edits++;
    later(5_000 + upTo(30_000), edit);
  }

  function begin(name: string): void {
    const agent = joinBoard(surface, name);
    const read = async () => {
      const { revision } = await agent.call("read", {});
      const readAt = time;
      later(2_000 + upTo(20_000), () => write(card(), revision, readAt));
    };
    const write = async (handle: string, revision: string | undefined, readAt: number) => {
      const { isStale } = await agent.call("write", { card: handle } satisfies JsonObject, revision);
      const isChanged = (changedAt.get(handle) ?? -1) > readAt;
      if (!isStale) {
        result.writes++;
        changedAt.set(handle, time);
      } else if (isChanged) result.refusedForTheirCard++;
      else result.refusedForNothing++;
      later(1_000 + upTo(5_000), read);
    };
    later(upTo(5_000), read);
  }

  for (let index = 0; index < PEOPLE; index++) later(upTo(30_000), edit);
  for (let index = 0; index < AGENTS; index++) begin(`agent-${index}`);
  while (time < HOUR_MS) {
    due.sort((a, b) => b.at - a.at);
    const next = due.pop();
    if (next === undefined) break;
    time = Math.max(time, next.at);
    await next.run();
  }
  surface.close();
  return result;
}
