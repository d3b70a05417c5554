import { attempt } from "../attempt.ts";
import type { AgUiEvent } from "../events.ts";
import type { Projection, ProjectionLeg, ProjectionRun } from "../projection.ts";
import { atMost } from "./at-most.ts";

export interface ProjectionLegsParts {
  readonly projection: Projection;
  readonly run: Omit<ProjectionRun, "onReady">;
  /** Resolves once the reader keeps up. */
  readonly room: () => Promise<void> | undefined;
  readonly accept: (event: AgUiEvent) => void;
  readonly onProblem: (message: string, cause?: unknown) => void;
}

/** How long a leg may take for its last words, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** What speaks beside a run, one at a time. Whatever fails there, the run goes on. */
export interface ProjectionLegs {
  open(): void;
  /** Lets the leg say what is due. */
  take(): Promise<void>;
  /** Tells the leg what somebody else said. */
  saw(event: AgUiEvent): void;
  close(): void;
}

export function createProjectionLegs({
  projection,
  run,
  room,
  accept,
  onProblem,
}: ProjectionLegsParts): ProjectionLegs {
  let leg: ProjectionLeg | undefined;
  let isClosed = false;
  /** What the leg gives goes out in turns. */
  let turn: Promise<void> = Promise.resolve();
  let isWanted = false;
  let isSpeaking = false;

  const guarded = (call: () => unknown) => attempt(call, (error) => onProblem("a projection threw", error));

  function schedule(): void {
    isWanted = true;
    turn = turn.then(async () => {
      await room();
      isWanted = false;
      if (leg === undefined || isClosed) return;
      try {
        const events = await leg.take();
        if (isClosed) return;
        isSpeaking = true;
        for (const event of events) accept(event);
      } catch (error) {
        onProblem("a projection threw", error);
      } finally {
        isSpeaking = false;
      }
    });
  }

  return {
    open: () =>
      guarded(() => {
        leg = projection.open?.({ ...run, onReady: () => isClosed || isWanted || schedule() });
        return leg;
      }),
    async take() {
      if (leg === undefined || isClosed) return;
      schedule();
      await atMost(turn, LAST_WORDS_MS);
    },
    saw(event) {
      if (!isSpeaking && !isClosed) guarded(() => leg?.saw?.(event));
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      guarded(() => leg?.close());
    },
  };
}
