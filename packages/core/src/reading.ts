import { invalidArgument } from "./argument.ts";
import type { AttachmentRow, ObservedRevision } from "./attachment.ts";
import { HumanPlusError } from "./error.ts";
import { type LinkName, linkIdOf } from "./link-state.ts";

/**
 * What one conversation of a model has read of a surface. Calls that are made with it are pinned to what had been read when
 * they were decided on, not to what other calls of the same answer, or of other conversations, have read since. So a model
 * that reads and writes in one answer does not write over what it sees only afterwards. PROTOCOL.md section 5.
 */
export interface Reading {
  /** What the next call is pinned to, if anything was read. */
  readonly marker: string | undefined;
  /** The model has been shown what its calls gave: what it decides from now on, it decides with that. */
  advance(): void;
}

/** A reading as calls use it. */
export class CallReading implements Reading {
  readonly #link: string;
  /** What the model has read. */
  #read: ObservedRevision | undefined;
  /** What the surface refused in an earlier step. The model was told to read again. */
  #refused: ObservedRevision | undefined;
  /** The last answer of this step, which the model has not seen. */
  #latest: ObservedRevision | undefined;
  /** What was refused in this step. */
  #refusal: ObservedRevision | undefined;
  /** An answer that tells of changes of others, so that it is not taken for read in this step. */
  #foreign: ObservedRevision | undefined;
  /** An answer of an earlier step, which the model has seen, and which tells of more than the last one of that step. */
  #passedOver: ObservedRevision | undefined;

  constructor(row: AttachmentRow) {
    this.#link = linkIdOf(row);
    this.#read = row.revision;
    this.#refused = row.refusedRevision;
  }

  get marker(): string | undefined {
    return this.pin?.marker;
  }

  /** Where the change feed is asked from: what was read last, refused or not. */
  get since(): string | undefined {
    return (this.#read ?? this.#refused ?? this.#latest)?.marker;
  }

  /**
   * The first call after a refusal is pinned to nothing, so that it can read. What is decided beside it has not seen what it
   * gives, and stays pinned to what was refused.
   */
  get pin(): ObservedRevision | undefined {
    if (this.#read !== undefined) return this.#read;
    return this.#latest === undefined ? undefined : (this.#refused ?? this.#latest);
  }

  /** Since when the feed has to be asked before the next call, if so: whether all that changed are the caller's own writes. */
  get doubt(): string | undefined {
    if (this.#passedOver !== undefined) return this.#passedOver.marker;
    const [read, latest] = [this.#read, this.#latest];
    const isAnswered = latest !== undefined && latest.marker !== read?.marker && latest !== this.#foreign;
    return isAnswered ? read?.marker : undefined;
  }

  /**
   * @param isOwn whether the feed tells of nothing but the caller's own writes
   * @param told what its answer stands for
   */
  settle(isOwn: boolean, told?: ObservedRevision): void {
    const answer = this.#passedOver === undefined ? this.#latest : undefined;
    if (isOwn) this.#read = told ?? answer ?? this.#read;
    else this.#foreign = answer;
    this.#passedOver = undefined;
  }

  answered(revision: ObservedRevision): void {
    this.#latest = revision;
  }

  /** Notes that the surface refused what the call was pinned to, if it does. */
  async unlessRefused<T>(call: Promise<T>): Promise<T> {
    const { pin } = this;
    try {
      return await call;
    } catch (error) {
      if (error instanceof HumanPlusError && error.code === "surface_changed_under_you") this.#refusal = pin;
      throw error;
    }
  }

  advance(): void {
    if (this.#latest !== undefined) {
      if (this.#foreign !== this.#latest) this.#passedOver = this.#foreign;
      this.#read = this.#latest;
      this.#refused = undefined;
    } else if (this.#refusal !== undefined) {
      this.#read = undefined;
      this.#refused = this.#refusal;
    }
    this.#latest = undefined;
    this.#foreign = undefined;
    this.#refusal = undefined;
  }

  /** @throws HumanPlusError `attachment_conflict` if it is of another attachment, or of an earlier one under the same id */
  assertOf(row: LinkName): void {
    if (this.#link === linkIdOf(row)) return;
    throw new HumanPlusError(
      "attachment_conflict",
      "the reading is of another attachment, so what it read is no news of this one",
    );
  }
}

/** @throws HumanPlusError `invalid_argument` for what no client of this package made */
export function requireReading(value: unknown): CallReading | undefined {
  if (value === undefined || value instanceof CallReading) return value;
  throw invalidArgument("reading should be what reading() gave");
}
