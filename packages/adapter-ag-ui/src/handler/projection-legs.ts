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
export class ProjectionLegs {
  readonly #parts: ProjectionLegsParts;
  #leg: ProjectionLeg | undefined;
  #isClosed = false;
  /** What the leg gives goes out in turns. */
  #turn: Promise<void> = Promise.resolve();
  #isWanted = false;
  #isSpeaking = false;

  constructor(parts: ProjectionLegsParts) {
    this.#parts = parts;
  }

  open(): void {
    const { projection, run, onProblem } = this.#parts;
    try {
      this.#leg = projection.open?.({ ...run, onReady: () => this.#ready() });
    } catch (error) {
      onProblem("projection.open threw", error);
    }
  }

  /** Lets the leg say what is due. */
  async take(): Promise<void> {
    if (this.#leg === undefined || this.#isClosed) return;
    this.#schedule();
    await atMost(this.#turn, LAST_WORDS_MS);
  }

  saw(event: AgUiEvent): void {
    if (this.#isSpeaking || this.#isClosed) return;
    try {
      this.#leg?.saw?.(event);
    } catch (error) {
      this.#parts.onProblem("a projection threw", error);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#leg?.close();
    } catch (error) {
      this.#parts.onProblem("a projection threw", error);
    }
  }

  #ready(): void {
    if (this.#isClosed || this.#isWanted) return;
    this.#schedule();
  }

  #schedule(): void {
    this.#isWanted = true;
    this.#turn = this.#turn.then(async () => {
      await this.#parts.room();
      this.#isWanted = false;
      const leg = this.#leg;
      if (leg === undefined || this.#isClosed) return;
      try {
        const events = await leg.take();
        if (this.#isClosed) return;
        this.#isSpeaking = true;
        for (const event of events) this.#parts.accept(event);
      } catch (error) {
        this.#parts.onProblem("a projection threw", error);
      } finally {
        this.#isSpeaking = false;
      }
    });
  }
}
