import type { Broker, PollBatch } from "../../src/fetch.ts";

/** A connection that may break: what is written to a broken one never arrives, and the relay learns of it later. */
class Connection {
  isBroken = false;
  /** Tells the broker. */
  close: () => void = () => undefined;
  isOpen(): boolean {
    return !this.isBroken;
  }
}

/** A reader of a session, which keeps what arrived. Its connections break when a test says so. */
export interface ModelReader {
  readonly received: string[];
  /** How often it was told that frames are lost. */
  gaps: number;
  /** Opens a leg if the last one broke, or was answered; the broker may not know yet that it did. */
  open(): void;
  /** Breaks the connection; the broker is told with {@link notice}. */
  breakOff(): void;
  notice(): void;
}

type Kind = "stream" | "outbox" | "poll";

export interface ModelReaderOptions {
  readonly broker: Broker;
  readonly session: string;
  readonly token: string;
  readonly client: string;
  readonly kind: Kind;
}

export function createModelReader({ broker, kind, ...caller }: ModelReaderOptions): ModelReader {
  let cursor: string | undefined;
  let subscriber: string | undefined;
  let current: Connection | undefined;
  const broken: Connection[] = [];
  const reader: ModelReader = {
    received: [],
    gaps: 0,
    open() {
      if (current !== undefined) return;
      const connection = new Connection();
      current = connection;
      connection.close = kind === "stream" ? openStream(connection) : openPoll(connection);
    },
    breakOff() {
      if (current === undefined) return;
      current.isBroken = true;
      broken.push(current);
      current = undefined;
    },
    notice() {
      for (const connection of broken.splice(0)) connection.close();
    },
  };

  function openStream(connection: Connection): () => void {
    const arrives = (take: () => void) => {
      if (!connection.isBroken) take();
      return true;
    };
    const leg = broker.openStream(
      { ...caller, direction: "outbound", cursor },
      {
        open: (start) => arrives(() => (cursor = start ?? cursor)),
        frame: (next, text) =>
          arrives(() => {
            cursor = next;
            reader.received.push(text);
          }),
        gap: (next) =>
          arrives(() => {
            cursor = next;
            reader.gaps++;
          }),
        keepAlive: () => true,
        end: () => undefined,
        cut: () => undefined,
        isOpen: () => connection.isOpen(),
      },
    );
    if (typeof leg === "string") throw new Error(leg);
    return () => leg.closed();
  }

  function openPoll(connection: Connection): () => void {
    let isAnswered = false;
    let leg: ReturnType<Broker["openPoll"]> | undefined;
    const delivered = () => {
      if (isAnswered && leg !== undefined && typeof leg !== "string") leg.delivered();
    };
    leg = broker.openPoll(
      {
        ...caller,
        direction: "outbound",
        cursor: kind === "outbox" ? cursor : undefined,
        subscriber: kind === "poll" ? { id: subscriber } : undefined,
        waitMs: 20_000,
      },
      {
        answer(batch: PollBatch) {
          isAnswered = true;
          delivered();
          if (connection.isBroken) return;
          cursor = batch.cursor;
          subscriber = batch.subscriber;
          if (batch.hasGap) reader.gaps++;
          reader.received.push(...batch.frames);
          if (current === connection) current = undefined;
        },
        refuse: () => undefined,
        settle: () => undefined,
        outlivesAnswer: () => false,
        isOpen: () => connection.isOpen(),
      },
    );
    delivered();
    const opened = leg;
    if (typeof opened === "string") throw new Error(opened);
    return () => opened.closed();
  }

  return reader;
}
