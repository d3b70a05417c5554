import { attempt } from "../attempt.ts";
import type { AgUiEvent } from "../events.ts";
import type { Projection, ProjectionLeg, ProjectionRun } from "../projection.ts";

/**
 * One projection of several. Of a callback that more than one of them has, the first counts, whatever it gives; but each of
 * them speaks in a run through its own `open`, in this order, and hears what the others say.
 */
export function composeProjections(...projections: readonly Projection[]): Projection {
  const composed: Record<string, unknown> = {};
  for (const projection of projections) {
    for (const name of callbacks) {
      const callback: unknown = projection[name];
      if (typeof callback === "function") composed[name] ??= callback.bind(projection);
    }
  }
  const opening = projections.filter(({ open }) => open !== undefined);
  return opening.length === 0 ? composed : { ...composed, open: (run) => new ManyLegs(opening, run) };
}

const callbacks = [
  "toolArguments",
  "toolResult",
  "state",
  "stateSnapshot",
  "stateDelta",
  "messages",
  "activity",
  "reasoning",
  "raw",
  "custom",
  "interrupt",
] as const satisfies ReadonlyArray<keyof Projection>;

class ManyLegs implements ProjectionLeg {
  readonly #legs: ProjectionLeg[] = [];
  /** The first failure that nobody was told of: `take` or `close` tells it. The others go on all the same. */
  #failure: { readonly error: unknown } | undefined;

  constructor(projections: readonly Projection[], run: ProjectionRun) {
    for (const projection of projections)
      this.#attempt(() => {
        const leg = projection.open?.(run);
        if (leg !== undefined) this.#legs.push(leg);
        return leg;
      });
  }

  async take(): Promise<readonly AgUiEvent[]> {
    const all: AgUiEvent[] = [];
    for (const leg of this.#legs) {
      try {
        const events = await leg.take();
        for (const event of events) this.saw(event, leg);
        all.push(...events);
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    if (all.length === 0) this.#tell();
    return all;
  }

  saw(event: AgUiEvent, by?: ProjectionLeg): void {
    for (const leg of this.#legs) if (leg !== by) this.#attempt(() => leg.saw?.(event));
  }

  close(): void {
    for (const leg of this.#legs) this.#attempt(() => leg.close());
    this.#tell();
  }

  #attempt(call: () => unknown): void {
    attempt(call, (error) => {
      this.#failure ??= { error };
    });
  }

  #tell(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }
}
