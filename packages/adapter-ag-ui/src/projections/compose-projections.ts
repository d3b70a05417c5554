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
  readonly #legs: readonly ProjectionLeg[];

  constructor(projections: readonly Projection[], run: ProjectionRun) {
    this.#legs = projections.flatMap((projection) => projection.open?.(run) ?? []);
  }

  async take(): Promise<readonly AgUiEvent[]> {
    const all: AgUiEvent[] = [];
    const failures: unknown[] = [];
    for (const leg of this.#legs) {
      try {
        const events = await leg.take();
        for (const event of events) for (const other of this.#legs) if (other !== leg) other.saw?.(event);
        all.push(...events);
      } catch (error) {
        failures.push(error); // the others speak all the same
      }
    }
    if (failures.length > 0 && all.length === 0) throw failures[0];
    return all;
  }

  saw(event: AgUiEvent): void {
    for (const leg of this.#legs) leg.saw?.(event);
  }

  close(): void {
    for (const leg of this.#legs) leg.close();
  }
}
