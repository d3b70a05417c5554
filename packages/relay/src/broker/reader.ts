import type { RelayErrorCode } from "@human-plus/core/protocol";
import type { BrokerContext } from "./context.ts";
import type { Deadline } from "./deadlines.ts";
import { FrameQueue, type KeptFrame } from "./frame-queue.ts";

/** An open stream or a waiting poll of a reader. */
export interface Leg {
  /** A frame was appended to the reader's queue. */
  wake(frame: KeptFrame): void;
  /** Ends the leg; with a reason, the far end is told. */
  end(reason: RelayErrorCode | undefined): void;
}

/** What a reader needs to know of its session. */
export interface ReaderHome {
  readonly context: BrokerContext;
  /** Text that tells cursors of this registration from others. */
  readonly epoch: string;
  /** The newest sequence of the session. */
  readonly sequence: number;
  /** A leg of a reader came or went, or its time is over. */
  legOpened(reader: Reader): void;
  legClosed(reader: Reader): void;
  readerDue(reader: Reader): void;
}

/** A poller of dialect "poll": the relay keeps its position. */
export interface Subscriber {
  readonly id: string;
  position: number;
  /** Its waiting poll, or the last answered one, which may turn out to be lost. */
  poll: { supersede(): void } | undefined;
}

/** One end that reads frames: the surface, one labelled client, or all unlabelled agents together. */
export class Reader implements Deadline {
  bucket = 0;
  readonly home: ReaderHome;
  readonly role: "surface" | "agent";
  /** The client's label; `undefined` for the surface and for unlabelled agents. */
  readonly client: string | undefined;
  readonly queue: FrameQueue;
  readonly maxLegs: number;
  legs: Leg[] = [];
  subscribers: Map<string, Subscriber> | undefined;
  /** The surface was told that this client joined. */
  isAnnounced = false;
  /** When it last did anything, or its last leg closed. */
  lastSeenAt: number;

  constructor(home: ReaderHome, role: "surface" | "agent", client: string | undefined, start: number, maxLegs: number) {
    this.home = home;
    this.role = role;
    this.client = client;
    this.queue = new FrameQueue(start);
    this.maxLegs = maxLegs;
    this.lastSeenAt = home.context.settings.clock.now();
  }

  append(frame: KeptFrame): void {
    this.queue.append(frame, this.home.context.bounds);
    if (this.legs.length === 1) this.legs[0]?.wake(frame);
    else for (const leg of [...this.legs]) leg.wake(frame);
  }

  /** Adds a leg; over the cap, the oldest one gives way, because it is most likely dead. */
  addLeg(leg: Leg): void {
    this.legs.push(leg);
    this.home.context.deadlines.clear(this);
    this.home.legOpened(this);
    if (this.legs.length > this.maxLegs) this.legs[0]?.end(undefined);
  }

  removeLeg(leg: Leg): void {
    const index = this.legs.indexOf(leg);
    if (index < 0) return;
    this.legs.splice(index, 1);
    this.lastSeenAt = this.home.context.settings.clock.now();
    if (this.legs.length === 0) this.home.legClosed(this);
  }

  endLegs(reason: RelayErrorCode | undefined): void {
    for (const leg of [...this.legs]) leg.end(reason);
  }

  /** Everything up to a position was read. */
  confirm(position: number): void {
    if (position > this.queue.takenThrough) this.queue.takenThrough = position;
  }

  trim(): void {
    if (this.queue.size > 0) this.queue.trim(this.home.context.settings.clock.now(), this.home.context.bounds);
  }

  expire(): void {
    this.home.readerDue(this);
  }

  subscriber(id: string | undefined): { subscriber: Subscriber; isForgotten: boolean } {
    const known = id === undefined ? undefined : this.subscribers?.get(id);
    this.subscribers ??= new Map();
    const subscriber = known ?? {
      id: this.home.context.settings.randomHex(8),
      position: this.queue.takenThrough,
      poll: undefined,
    };
    this.subscribers.delete(subscriber.id); // to the end: the first is the one unused for longest
    this.subscribers.set(subscriber.id, subscriber);
    if (this.subscribers.size > this.maxLegs) {
      const [oldest] = this.subscribers.keys();
      if (oldest !== undefined) this.subscribers.delete(oldest);
    }
    return { subscriber, isForgotten: id !== undefined && known === undefined };
  }
}
