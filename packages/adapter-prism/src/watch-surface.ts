import type { HumanPlus } from "@human-plus/core";
import {
  assertFlag,
  assertFunction,
  assertOptions,
  assertPart,
  attachmentChecks,
  type Checks,
  optional,
} from "./argument.ts";
import type { AgentSession } from "./host.ts";
import { followRun } from "./run-progress.ts";
import { surfaceMessage } from "./surface-turn.ts";

export interface WatchSurfaceOptions {
  humanPlus: HumanPlus;
  /** Presented with every operation. */
  owner: string;
  /** Of `humanPlus.attach(...)`. */
  attachmentId: string;
  /** Handed to the host's `steer`: whether the model is interrupted in the middle of its turn. @default the host's own */
  softInterrupt?: boolean | undefined;
  /** Hears that the host did not take a message, for example because too many wait. It is offered again before the next turn. @default nobody */
  onRefused?: ((error: unknown) => void) | undefined;
}

/** Ends with `close()` or a `using` block; closing twice does no harm. */
export interface SurfaceWatch extends Disposable {
  close(): void;
}

const checks: Checks<WatchSurfaceOptions> = {
  ...attachmentChecks,
  softInterrupt: optional(assertFlag),
  onRefused: optional(assertFunction),
};
const assertSession = assertPart("a session of the host", "steer", "subscribe");

type News = "person_acted" | "surface_gone";

/** Words of ours alone: what a surface says never gets into a run this way. */
const WORDS: Readonly<Record<News, string>> = {
  person_acted:
    "A person is working on the live surface at this moment. Before you write to it again, read what you work on or ask what changed, and leave alone what others changed.",
  surface_gone:
    "The live surface is gone: its tools do not work any more. Do not call them again; finish without them, and say what is left undone.",
};

/**
 * Steers the runs of a session: tells the model, before its next turn, that a person took over or that the surface went
 * away. At most one message of each kind waits at a time, however much happens, and none is given outside a run: the next
 * run begins with `surfaceTurn`. It keeps the receiving leg of the attachment open until it is closed.
 *
 * @throws HumanPlusError `invalid_argument`, and what `HumanPlus.watch` throws
 */
export async function watchSurface(session: AgentSession, options: WatchSurfaceOptions): Promise<SurfaceWatch> {
  assertSession("session", session);
  assertOptions("watchSurface", options, checks);
  const { humanPlus, owner, attachmentId, softInterrupt, onRefused } = options;
  /** What was given to the host and has not reached the model yet. */
  const given = new Set<News>();
  /** What the host did not take. */
  const owed = new Set<News>();
  let isGone = false;

  const steer = async (news: News): Promise<void> => {
    if (given.has(news)) return;
    given.add(news);
    owed.delete(news);
    try {
      const message = surfaceMessage("user", WORDS[news], news);
      await session.steer(message, softInterrupt === undefined ? undefined : { softInterrupt });
    } catch (error) {
      given.delete(news);
      owed.add(news);
      try {
        onRefused?.(error);
      } catch {
        // Who listens for refusals adds none.
      }
    }
  };
  const run = followRun(session, {
    onTurn() {
      // The host hands on what waits at the start of a turn, so from here on news are news again.
      given.clear();
      for (const news of [...owed]) void steer(news);
    },
    onEnd() {
      given.clear();
      owed.clear();
    },
  });
  const release = await humanPlus.watch(owner, attachmentId).catch((error: unknown) => {
    run.close();
    throw error;
  });
  const tell = (news: News): void => {
    if (run.isRunning) void steer(news);
  };
  const stops = [
    humanPlus.on("personActed", (event) => {
      if (event.attachmentId === attachmentId && !isGone) tell("person_acted");
    }),
    humanPlus.on("attachmentEnded", (event) => {
      if (event.attachmentId !== attachmentId || isGone) return;
      isGone = true;
      tell("surface_gone");
    }),
    run.close,
    release,
  ];
  const close = (): void => {
    for (const stop of stops.splice(0)) stop();
  };
  return { close, [Symbol.dispose]: close };
}
