import * as fc from "fast-check";
import { commandArbitraries } from "./commands.ts";
import { BrokenPromise, type Story } from "./story.ts";
import { createVirtualTime } from "./virtual-time.ts";
import { createWorld, settle, type WorldOptions } from "./world.ts";

export interface CheckOptions {
  runs: number;
  /** @default a new one */
  seed?: number | undefined;
  /** Stops early, in milliseconds. @default when all runs are done */
  timeMs?: number | undefined;
  /** Hears each story that was told to its end. */
  onStory?: ((lines: readonly string[]) => void) | undefined;
}

export interface CheckResult {
  /** How many runs there were. */
  readonly runs: number;
  readonly seed: number;
  /** The shortest story that breaks a promise, or `undefined` if all are kept. */
  readonly story: string | undefined;
  readonly promise: string | undefined;
}

const MAX_COMMANDS = 14;

const storyOptions = fc.record({
  maxChanges: fc.constantFrom(10_000, 10_000, 6),
  haveRead: fc.boolean(),
  keepsReading: fc.boolean(),
});
const commands = fc.commands(commandArbitraries, { maxCommands: MAX_COMMANDS, size: "max" });
const scheduler = fc.scheduler({
  async act(release) {
    await release();
    await settle();
  },
});

type Scheduled = typeof scheduler extends fc.Arbitrary<infer S> ? S : never;
type Steps = typeof commands extends fc.Arbitrary<infer C> ? C : never;

async function tellOneStory(options: WorldOptions, steps: Steps, schedule: Scheduled): Promise<Story> {
  const time = createVirtualTime();
  const restore = time.install();
  try {
    const world = await createWorld(options, (label) => schedule.schedule(Promise.resolve(), label), time);
    await fc.scheduledModelRun(schedule, () => ({ model: world, real: world }), steps);
    await world.finish(() => schedule.waitAll());
    return world.story;
  } finally {
    restore();
  }
}

/** Runs the model of two writers against the real surface, the real client and the real broker. */
export async function checkTwoWriters({ runs, seed, timeMs, onStory }: CheckOptions): Promise<CheckResult> {
  const property = fc.asyncProperty(storyOptions, commands, scheduler, async (options, steps, schedule) => {
    const { lines } = await tellOneStory(options, steps, schedule);
    onStory?.(lines);
  });
  const details = await fc.check(property, {
    numRuns: runs,
    ...(seed !== undefined && { seed }),
    ...(timeMs !== undefined && { interruptAfterTimeLimit: timeMs }),
  });
  const error = details.errorInstance;
  return {
    runs: details.numRuns,
    seed: details.seed,
    story: details.failed ? (error instanceof BrokenPromise ? error.message : describe(error)) : undefined,
    promise: error instanceof BrokenPromise ? error.promise : undefined,
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.stack}` : `${error}`;
}
