import { concat } from "../bounded-json.ts";
import { unref } from "./at-most.ts";
import type { FrameCodec } from "./frame-codec.ts";

export interface FrameStreamParts {
  readonly codec: FrameCodec;
  readonly maxQueuedEvents: number;
  readonly pingMs: number;
  readonly stallTimeoutMs: number;
  /** The reader took nothing for that long, though there was something. */
  readonly onStall: () => void;
  /** The reader went away. */
  readonly onCancel: () => void;
}

/** Frames go together into one chunk up to about this many bytes. */
const CHUNK_BYTES = 65_536;

/** The body of an answer: a bounded queue of frames that goes as fast as its reader. */
export class FrameStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Everything was read, or the reader went away. */
  readonly done: Promise<void>;
  readonly #parts: FrameStreamParts;
  readonly #queue: Uint8Array<ArrayBuffer>[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  /** The reader waits for something to come. */
  #waiting: (() => void) | undefined;
  #roomWaiters: Array<() => void> = [];
  #isEnded = false;
  #isOver = false;
  #resolveDone: () => void = () => undefined;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #stallTimer: ReturnType<typeof setTimeout> | undefined;
  #sentAt = performance.now();

  constructor(parts: FrameStreamParts) {
    this.#parts = parts;
    this.done = new Promise((resolve) => {
      this.#resolveDone = resolve;
    });
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => {
          this.#over();
          parts.onCancel();
        },
      },
      { highWaterMark: 0 },
    );
    if (parts.codec.ping !== undefined) this.#armPing(parts.pingMs);
  }

  push(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#isEnded || this.#isOver) return;
    this.#queue.push(frame);
    this.#news();
  }

  /** Nothing more will come. What is queued is still read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#pingTimer);
    this.#letIn();
    if (this.#queue.length === 0) this.#deliver();
    else this.#news();
  }

  /** Resolves once there is room for more, at once if there is. */
  room(): Promise<void> | undefined {
    if (this.#isOver || this.#isEnded || this.#queue.length < this.#parts.maxQueuedEvents) return undefined;
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  #news(): void {
    if (this.#waiting !== undefined) {
      // What is pushed in the same turn goes in the same chunk.
      const deliver = this.#waiting;
      this.#waiting = undefined;
      queueMicrotask(() => {
        this.#deliver();
        deliver();
      });
    } else this.#armStall();
  }

  /** The reader has something to take. */
  #armStall(): void {
    if (this.#stallTimer !== undefined || this.#isOver || this.#queue.length === 0) return;
    this.#stallTimer = setTimeout(() => {
      this.#stallTimer = undefined;
      if (this.#isEnded) this.#giveUp();
      else this.#parts.onStall();
    }, this.#parts.stallTimeoutMs);
    unref(this.#stallTimer);
  }

  /** The run is over as well: nothing is kept for whoever takes nothing. */
  #giveUp(): void {
    this.#over();
    this.#controller?.error(new Error("The reader took nothing for too long"));
  }

  #pull(): Promise<void> | undefined {
    this.#clearStall();
    if (this.#queue.length > 0 || this.#isEnded) {
      this.#deliver();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #deliver(): void {
    if (this.#isOver) return;
    let size = 0;
    let count = 0;
    for (const frame of this.#queue) {
      if (count > 0 && size + frame.length > CHUNK_BYTES) break;
      size += frame.length;
      count++;
    }
    const frames = this.#queue.splice(0, count);
    if (this.#queue.length === 0) this.#clearStall();
    else this.#armStall();
    this.#sentAt = performance.now();
    if (frames.length > 0) this.#controller?.enqueue(concat(frames));
    if (this.#isEnded && this.#queue.length === 0) {
      this.#over();
      this.#controller?.close();
    } else if (this.#queue.length < this.#parts.maxQueuedEvents) this.#letIn();
  }

  #clearStall(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #letIn(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #over(): void {
    this.#isOver = true;
    this.#queue.length = 0;
    clearTimeout(this.#pingTimer);
    this.#clearStall();
    this.#letIn();
    this.#waiting?.();
    this.#resolveDone();
  }

  #armPing(delayMs: number): void {
    this.#pingTimer = setTimeout(() => {
      const { codec, pingMs } = this.#parts;
      const quietMs = performance.now() - this.#sentAt;
      if (quietMs < pingMs) return this.#armPing(pingMs - quietMs);
      // Only to a reader that waits: pings do not pile up.
      if (this.#waiting !== undefined && codec.ping !== undefined) this.push(codec.ping);
      this.#armPing(pingMs);
    }, delayMs);
    unref(this.#pingTimer);
  }
}
