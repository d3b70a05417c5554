import type { Clock } from "./clock.ts";

/** What was written and may yet turn out to be lost. */
export interface Confirmable {
  /** The connection survived until here: what was written up to `position` counts as read. */
  confirm(position: number): void;
}

/**
 * A connection that its reader closed takes one more write: the relay learns of the close only when it looks at the
 * sockets again. So a write counts only after it has looked. One callback serves all writes of a turn.
 */
export class Confirmations {
  readonly #clock: Clock;
  #batch: { written: Confirmable; position: number }[] | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(written: Confirmable, position: number): void {
    if (this.#batch === undefined) {
      this.#batch = [];
      this.#clock.afterTurn(this.#closeBatch);
    }
    this.#batch.push({ written, position });
  }

  readonly #closeBatch = (): void => {
    const batch = this.#batch ?? [];
    this.#batch = undefined;
    this.#clock.afterTurn(() => {
      for (const { written, position } of batch) written.confirm(position);
    });
  };
}
