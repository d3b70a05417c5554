import { limits, type RelayErrorCode } from "@human-plus/core/protocol";
import type { Confirmable } from "./confirmations.ts";
import { formatCursor } from "./cursor.ts";
import type { Deadline } from "./deadlines.ts";
import type { Leg, Reader, Subscriber } from "./reader.ts";
import type { PollSink } from "./sinks.ts";

/** How long a connection has to stand after an answer, in milliseconds, for the answer to count as read. */
const DOUBT_MS = 1_000;

/** A waiting poll, and for a moment after its answer the doubt whether it arrived. */
export class PollLeg implements Leg, Deadline, Confirmable {
  bucket = 0;
  readonly #reader: Reader;
  readonly #sink: PollSink;
  readonly #subscriber: Subscriber | undefined;
  #position: number;
  #hasGap: boolean;
  #state: "waiting" | "answered" | "settled" = "waiting";

  constructor(
    reader: Reader,
    sink: PollSink,
    position: number,
    { hasGap, subscriber }: { hasGap: boolean; subscriber: Subscriber | undefined },
  ) {
    this.#reader = reader;
    this.#sink = sink;
    this.#position = position;
    this.#hasGap = hasGap;
    this.#subscriber = subscriber;
  }

  /** Answers at once if there is anything to say, else waits. The leg is one of its reader's already. */
  start(waitMs: number): void {
    const { context } = this.#reader.home;
    context.open.polls++;
    if (this.#subscriber !== undefined) this.#subscriber.poll = this;
    const { queue } = this.#reader;
    const hasNews = this.#hasGap || queue.lostThrough > this.#position || queue.next(this.#position) !== undefined;
    if (hasNews || waitMs <= 0) this.#answer();
    else context.deadlines.set(this, waitMs);
  }

  /** For the binding: the answer was handed to the connection. */
  delivered(): void {
    if (this.#state !== "answered") return;
    const { confirmations, deadlines } = this.#reader.home.context;
    // A poller of dialect "poll" cannot say what it has read: its next poll says so, or that its connection still stands.
    if (this.#subscriber !== undefined && this.#sink.outlivesAnswer()) deadlines.set(this, DOUBT_MS);
    else confirmations.add(this, this.#position);
  }

  /** For the binding: the poller is gone, and has not read the answer. */
  closed(): void {
    this.#leave();
    this.#reader.home.context.deadlines.clear(this);
    this.#state = "settled";
  }

  wake(): void {
    this.#answer();
  }

  expire(): void {
    if (this.#state === "waiting") this.#answer();
    else this.confirm(this.#position);
  }

  end(reason: RelayErrorCode | undefined): void {
    if (this.#state !== "waiting") return;
    if (reason === undefined) {
      this.#answer();
      return;
    }
    this.#leave();
    this.#state = "settled";
    this.#sink.refuse(reason);
  }

  /** The same subscriber polls again: a waiting poll is answered, and an answer whose connection still stands has arrived. */
  supersede(): void {
    if (this.#state === "waiting") {
      this.#leave();
      this.#state = "settled";
      this.#sink.answer({ frames: [], cursor: this.#cursor(), hasGap: false, subscriber: this.#subscriber?.id });
      this.#sink.settle();
    } else this.confirm(this.#position);
  }

  confirm(position: number): void {
    if (this.#state !== "answered") return;
    this.#state = "settled";
    this.#reader.home.context.deadlines.clear(this);
    if (this.#sink.isOpen()) {
      this.#reader.confirm(position);
      if (this.#subscriber !== undefined && position > this.#subscriber.position) this.#subscriber.position = position;
    }
    this.#sink.settle();
  }

  #answer(): void {
    if (this.#state !== "waiting") return;
    this.#leave();
    this.#state = "answered";
    const { queue, home } = this.#reader;
    if (queue.lostThrough > this.#position) {
      this.#hasGap = true;
      this.#position = queue.lostThrough;
    }
    if (this.#hasGap) home.context.counters.gaps++;
    const frames = queue.after(this.#position, limits.pollFrames);
    this.#position = frames.at(-1)?.sequence ?? this.#position;
    this.#sink.answer({
      frames: frames.map(({ text }) => text),
      cursor: this.#cursor(),
      hasGap: this.#hasGap,
      subscriber: this.#subscriber?.id,
    });
  }

  #leave(): void {
    if (this.#state !== "waiting") return;
    const { context } = this.#reader.home;
    context.open.polls--;
    context.deadlines.clear(this);
    this.#reader.removeLeg(this);
  }

  #cursor(): string {
    return formatCursor(this.#reader.home.epoch, this.#position);
  }
}
