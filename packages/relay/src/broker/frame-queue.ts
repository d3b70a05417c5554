/** One frame that is kept for a reader. Shared by the queues of all readers that a notification goes to. */
export interface KeptFrame {
  /** Its place in the session; ascending in every queue, with holes. */
  readonly sequence: number;
  /** JSON text without line breaks. */
  readonly text: string;
  /** UTF-8 bytes of the text. */
  readonly bytes: number;
  /** When it came, in milliseconds of the clock. */
  readonly at: number;
}

/** What one queue may hold. */
export interface QueueBounds {
  readonly maxFrames: number;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

const EMPTY: KeptFrame[] = [];

/**
 * The frames kept for one reader, oldest first, bounded by count, bytes and age. Reading takes nothing out: a reader
 * has a position, and frames stay until the bounds push them out, so that it can come back to an earlier position.
 */
export class FrameQueue {
  /** Frames up to here are gone: a reader whose position is before it has missed some. */
  lostThrough: number;
  /** Frames up to here were read by some leg: where a reader begins that brings no cursor. */
  takenThrough: number;
  bytes = 0;
  #frames: KeptFrame[] = EMPTY; // nearly all queues are empty, and there may be many

  /** @param start the sequence of the session: frames up to it are none of this queue's business */
  constructor(start: number) {
    this.lostThrough = start;
    this.takenThrough = start;
  }

  get size(): number {
    return this.#frames.length;
  }

  append(frame: KeptFrame, bounds: QueueBounds): void {
    if (this.#frames === EMPTY) this.#frames = [];
    this.#frames.push(frame);
    this.bytes += frame.bytes;
    this.trim(frame.at, bounds);
  }

  /** Drops what is over the bounds. The newest frame is never over the bounds of count and bytes. */
  trim(now: number, { maxFrames, maxBytes, maxAgeMs }: QueueBounds): void {
    const frames = this.#frames;
    let drop = 0;
    for (let bytes = this.bytes; drop < frames.length; drop++) {
      const oldest = frames[drop] as KeptFrame;
      const left = frames.length - drop;
      const isOver = left > 1 && (left > maxFrames || bytes > maxBytes);
      if (!isOver && now - oldest.at <= maxAgeMs) break;
      bytes -= oldest.bytes;
      this.bytes = bytes;
      this.lostThrough = oldest.sequence;
    }
    if (drop === frames.length) this.#frames = EMPTY;
    else if (drop > 0) frames.splice(0, drop);
  }

  /** The oldest kept frame after a position. */
  next(position: number): KeptFrame | undefined {
    const frames = this.#frames;
    let index = frames.length;
    while (index > 0 && (frames[index - 1] as KeptFrame).sequence > position) index--;
    return frames[index];
  }

  /** All kept frames after a position, at most `max`. */
  after(position: number, max: number): KeptFrame[] {
    const first = this.next(position);
    if (first === undefined) return [];
    const index = this.#frames.indexOf(first);
    return this.#frames.slice(index, index + max);
  }
}
