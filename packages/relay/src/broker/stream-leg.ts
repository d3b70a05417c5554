import type { RelayErrorCode } from "@human-plus/core/protocol";
import type { Confirmable } from "./confirmations.ts";
import { formatCursor } from "./cursor.ts";
import type { Deadline } from "./deadlines.ts";
import type { KeptFrame } from "./frame-queue.ts";
import type { Leg, Reader } from "./reader.ts";
import type { StreamSink } from "./sinks.ts";

const MAX_STALLED_KEEPALIVES = 2;

/** An open event stream. */
export class StreamLeg implements Leg, Deadline, Confirmable {
  bucket = 0;
  readonly #reader: Reader;
  readonly #sink: StreamSink;
  #position: number;
  #isClosed = false;
  /** The sink wants no more until {@link drained}. */
  #isStalled = false;
  #stalledBytes = 0;
  #stalledKeepAlives = 0;

  constructor(reader: Reader, sink: StreamSink, position: number) {
    this.#reader = reader;
    this.#sink = sink;
    this.#position = position;
  }

  /** Begins to write. The leg is one of its reader's already. */
  start(hasGap: boolean): void {
    const { context } = this.#reader.home;
    context.open.streams++;
    context.deadlines.set(this, context.settings.keepAliveMs);
    const hasLost = hasGap || this.#reader.queue.lostThrough > this.#position;
    this.#isStalled = !this.#sink.open(hasLost ? undefined : this.#cursor());
    if (hasLost) this.#tellGap();
    this.#pump();
  }

  /** For the binding: the sink wants more. */
  drained(): void {
    if (this.#isClosed) return;
    this.#isStalled = false;
    this.#stalledBytes = 0;
    this.#stalledKeepAlives = 0;
    this.#pump();
  }

  /** For the binding: the far end is gone. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { context } = this.#reader.home;
    context.open.streams--;
    context.deadlines.clear(this);
    this.#reader.removeLeg(this);
  }

  wake(frame: KeptFrame): void {
    if (!this.#isStalled) {
      this.#pump();
      return;
    }
    this.#stalledBytes += frame.bytes;
    if (this.#stalledBytes > this.#reader.home.context.settings.maxStalledBytes) this.#cut();
  }

  end(reason: RelayErrorCode | undefined): void {
    if (this.#isClosed) return;
    this.closed();
    this.#sink.end(reason);
  }

  confirm(position: number): void {
    if (!this.#isClosed && this.#sink.isOpen()) this.#reader.confirm(position);
  }

  /** Time for a keepalive comment. */
  expire(): void {
    const { context } = this.#reader.home;
    this.#reader.trim();
    if (this.#isStalled && ++this.#stalledKeepAlives >= MAX_STALLED_KEEPALIVES) {
      this.#cut();
      return;
    }
    if (!this.#isStalled) this.#isStalled = !this.#sink.keepAlive();
    if (!this.#isClosed) context.deadlines.set(this, context.settings.keepAliveMs);
  }

  #pump(): void {
    const { queue } = this.#reader;
    const before = this.#position;
    while (!this.#isStalled && !this.#isClosed) {
      if (queue.lostThrough > this.#position) this.#tellGap();
      const frame = queue.next(this.#position);
      if (frame === undefined) break;
      this.#position = frame.sequence;
      this.#isStalled = !this.#sink.frame(this.#cursor(), frame.text);
    }
    if (this.#position > before) this.#reader.home.context.confirmations.add(this, this.#position);
  }

  #tellGap(): void {
    const { home, queue } = this.#reader;
    home.context.counters.gaps++;
    this.#position = Math.max(this.#position, queue.lostThrough);
    this.#isStalled = !this.#sink.gap(this.#cursor());
  }

  #cut(): void {
    const { context } = this.#reader.home;
    context.counters.slowReadersCut++;
    this.closed();
    this.#sink.cut();
  }

  #cursor(): string {
    return formatCursor(this.#reader.home.epoch, this.#position);
  }
}
