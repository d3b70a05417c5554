import { jsonRpcVersion, methods, type RelayErrorCode, utf8Length } from "@human-plus/core/protocol";
import type { BrokerContext } from "./context.ts";
import { readCursor } from "./cursor.ts";
import type { Deadline } from "./deadlines.ts";
import type { KeptFrame } from "./frame-queue.ts";
import { InFlightTable } from "./in-flight-table.ts";
import type { IncomingFrame } from "./incoming-frame.ts";
import { PollLeg } from "./poll-leg.ts";
import { Reader, type ReaderHome } from "./reader.ts";
import type { PollSink, StreamSink } from "./sinks.ts";
import { StreamLeg } from "./stream-leg.ts";

/** One session: its readers, who asked what, and when it was last used. */
export class Session implements ReaderHome, Deadline {
  bucket = 0;
  readonly context: BrokerContext;
  readonly id: string;
  readonly tokenHash: Uint8Array;
  readonly epoch: string;
  readonly inFlight: InFlightTable<Reader> = new InFlightTable();
  readonly clients: Map<string | undefined, Reader> = new Map(); // under undefined: all unlabelled agents
  readonly #surface: Reader;
  readonly #onExpired: (session: Session) => void;
  sequence = 0;
  #newestForAgents = 0;
  #openReaders = 0;
  #lastUsedAt: number;
  #surfaceSeenAt: number;

  constructor(context: BrokerContext, id: string, tokenHash: Uint8Array, onExpired: (session: Session) => void) {
    this.context = context;
    this.id = id;
    this.tokenHash = tokenHash;
    this.epoch = context.settings.randomHex(4);
    this.#onExpired = onExpired;
    this.#lastUsedAt = context.settings.clock.now();
    this.#surfaceSeenAt = this.#lastUsedAt;
    this.#surface = new Reader(this, "surface", undefined, 0, context.settings.maxLegs);
    context.deadlines.set(this, context.settings.ttlMs);
  }

  /** All who read here. */
  *readers(): Iterable<Reader> {
    yield this.#surface;
    yield* this.clients.values();
  }

  touch(): void {
    this.#lastUsedAt = this.context.settings.clock.now();
  }

  /** The surface registered, again or for the first time: it is about to open its leg. */
  surfaceRegistered(): void {
    this.touch();
    this.#surfaceSeenAt = this.#lastUsedAt;
  }

  /** A frame of an agent. @returns why it was refused */
  sendToSurface(frame: IncomingFrame, client: string | undefined): RelayErrorCode | undefined {
    if (frame.kind === "response") return this.#drop(); // agents are asked nothing
    if (frame.kind === "notification" && isPresence(frame.method)) return this.#drop();
    const asker = this.#client(client);
    if (asker === undefined) return "too_many_clients";
    asker.lastSeenAt = this.context.settings.clock.now();
    if (!this.#isSurfacePresent()) return "surface_absent";
    if (frame.kind === "request") {
      const { clock, maxInFlight, inFlightAgeMs } = this.context.settings;
      const outcome = this.inFlight.add(frame.id, asker, clock.now(), maxInFlight, inFlightAgeMs);
      if (outcome !== "added") return outcome;
    }
    this.context.counters.framesToSurface++;
    this.#surface.append(this.#keep(frame));
    return undefined;
  }

  /** A frame of the surface. @returns why it was refused */
  sendToAgents(frame: IncomingFrame): RelayErrorCode | undefined {
    this.#surfaceSeenAt = this.context.settings.clock.now();
    if (frame.kind === "request") return "missing_fields"; // agents answer nothing, and nobody could be told so
    if (frame.kind === "notification") {
      if (isPresence(frame.method)) return this.#drop();
      const kept = this.#keepForAgents(frame);
      for (const reader of this.clients.values()) {
        this.context.counters.framesToAgents++;
        reader.append(kept);
      }
      return undefined;
    }
    const asker = frame.id === null ? undefined : this.inFlight.take(frame.id);
    if (asker === undefined) return this.#drop();
    this.context.counters.framesToAgents++;
    asker.append(this.#keepForAgents(frame));
    return undefined;
  }

  openStream(
    from: { inbound: boolean; client: string | undefined; cursor: string | undefined },
    sink: StreamSink,
  ): StreamLeg | RelayErrorCode {
    const reader = from.inbound ? this.#surface : this.#client(from.client);
    if (reader === undefined) return "too_many_clients";
    const { position, hasGap } = this.#resume(reader, from.cursor);
    const leg = new StreamLeg(reader, sink, position);
    reader.addLeg(leg);
    leg.start(hasGap);
    return leg;
  }

  openPoll(
    from: {
      inbound: boolean;
      client: string | undefined;
      cursor: string | undefined;
      /** Absent in dialect "outbox". */
      subscriber: { id: string | undefined } | undefined;
      waitMs: number;
    },
    sink: PollSink,
  ): PollLeg | RelayErrorCode {
    const reader = from.inbound ? this.#surface : this.#client(from.client);
    if (reader === undefined) return "too_many_clients";
    let { position, hasGap } = this.#resume(reader, from.cursor);
    const named = from.subscriber === undefined ? undefined : reader.subscriber(from.subscriber.id);
    if (named !== undefined) {
      named.subscriber.poll?.supersede();
      position = named.subscriber.position;
      hasGap = named.isForgotten;
    }
    const leg = new PollLeg(reader, sink, position, { hasGap, subscriber: named?.subscriber });
    reader.addLeg(leg);
    leg.start(Math.min(from.waitMs, this.context.settings.maxWaitMs));
    return leg;
  }

  /** An agent leaves; the others stay. */
  removeClient(client: string): void {
    const reader = this.clients.get(client);
    if (reader !== undefined) this.#remove(reader);
  }

  /** Ends all legs. Nothing of the session is used afterwards. */
  end(reason: RelayErrorCode): void {
    this.context.deadlines.clear(this);
    for (const reader of this.readers()) {
      reader.endLegs(reason);
      this.context.deadlines.clear(reader);
    }
  }

  legOpened(reader: Reader): void {
    if (reader.legs.length === 1) this.#openReaders++;
    if (reader.client !== undefined && !reader.isAnnounced) {
      reader.isAnnounced = true;
      this.#announce(methods.peerJoined, reader.client);
    }
  }

  legClosed(reader: Reader): void {
    this.#openReaders--;
    this.touch();
    const { settings, deadlines } = this.context;
    if (reader.role === "surface") this.#surfaceSeenAt = reader.lastSeenAt;
    deadlines.set(reader, reader.isAnnounced ? settings.peerGraceMs : settings.queueAgeMs);
  }

  /** A reader has had no leg for some time. */
  readerDue(reader: Reader): void {
    const { settings, deadlines } = this.context;
    if (reader.role === "surface") {
      reader.trim();
      return;
    }
    if (reader.isAnnounced) this.#announceLeft(reader);
    const leftMs = reader.lastSeenAt + settings.queueAgeMs - settings.clock.now();
    if (leftMs > 0) deadlines.set(reader, leftMs);
    else this.#remove(reader);
  }

  /** The session may have been unused for its time to live. */
  expire(): void {
    const { settings, deadlines } = this.context;
    const leftMs = this.#openReaders > 0 ? settings.ttlMs : this.#lastUsedAt + settings.ttlMs - settings.clock.now();
    if (leftMs > 0) deadlines.set(this, leftMs);
    else this.#onExpired(this);
  }

  #resume(reader: Reader, cursor: string | undefined): { position: number; hasGap: boolean } {
    reader.trim();
    reader.lastSeenAt = this.context.settings.clock.now();
    if (cursor === undefined) return { position: reader.queue.takenThrough, hasGap: false };
    const position = readCursor(cursor, this.epoch, this.sequence);
    if (position === undefined) return { position: reader.queue.lostThrough, hasGap: true };
    reader.confirm(position);
    return { position, hasGap: false };
  }

  /** The reader of a label, made if it is new and there is room. */
  #client(client: string | undefined): Reader | undefined {
    const known = this.clients.get(client);
    if (known !== undefined) return known;
    const { maxClients, maxLegs, queueAgeMs } = this.context.settings;
    if (this.clients.size >= maxClients && !this.#dropIdleClient()) return undefined;
    const start = this.#newestForAgents;
    const reader = new Reader(
      this,
      "agent",
      client,
      start,
      client === undefined ? Math.max(maxClients, maxLegs) : maxLegs,
    );
    this.clients.set(client, reader);
    this.context.deadlines.set(reader, queueAgeMs);
    return reader;
  }

  /** Makes room: the client that is away and was not seen for longest. */
  #dropIdleClient(): boolean {
    let idle: Reader | undefined;
    for (const reader of this.clients.values()) {
      if (reader.legs.length > 0 || reader.isAnnounced) continue;
      if (idle === undefined || reader.lastSeenAt < idle.lastSeenAt) idle = reader;
    }
    const { clock, peerGraceMs } = this.context.settings;
    if (idle === undefined || clock.now() - idle.lastSeenAt < peerGraceMs) return false;
    this.#remove(idle);
    return true;
  }

  #remove(reader: Reader): void {
    this.clients.delete(reader.client);
    reader.endLegs(undefined);
    this.context.deadlines.clear(reader);
    this.inFlight.forget(reader);
    if (reader.isAnnounced) this.#announceLeft(reader);
  }

  #isSurfacePresent(): boolean {
    const { clock, surfaceGraceMs } = this.context.settings;
    return this.#surface.legs.length > 0 || clock.now() - this.#surfaceSeenAt <= surfaceGraceMs;
  }

  #announceLeft(reader: Reader): void {
    reader.isAnnounced = false;
    if (reader.client !== undefined) this.#announce(methods.peerLeft, reader.client);
  }

  #announce(method: typeof methods.peerJoined | typeof methods.peerLeft, client: string): void {
    const text = JSON.stringify({ jsonrpc: jsonRpcVersion, method, params: { client } });
    this.#surface.append(this.#keep({ text, bytes: utf8Length(text) }));
    this.context.settings.onEvent({
      kind: method === methods.peerJoined ? "peer_joined" : "peer_left",
      session: this.id,
      client,
    });
  }

  #drop(): undefined {
    this.context.counters.framesDropped++;
    return undefined;
  }

  #keepForAgents(frame: IncomingFrame): KeptFrame {
    const kept = this.#keep(frame);
    this.#newestForAgents = kept.sequence;
    return kept;
  }

  #keep({ text, bytes }: { text: string; bytes: number }): KeptFrame {
    return { sequence: ++this.sequence, text, bytes, at: this.context.settings.clock.now() };
  }
}

function isPresence(method: string): boolean {
  return method === methods.peerJoined || method === methods.peerLeft;
}
