import type { Delivery, Demand, HumanPlusError } from "@human-plus/core/protocol";
import type { PollAnswer, PollOptions } from "@human-plus/core/relay";
import { createPacing } from "./pacing.ts";
import { type Dialect, type PollBatch, readPollBatch } from "./poll-batch.ts";

export interface PollLoopOptions {
  /** A cursor of a loop like this one, or of another kind of leg. */
  after: string | undefined;
  demand: Demand;
  signal: AbortSignal;
  dialect: Dialect;
  /** What to try where the relay does not know the dialect. */
  otherDialect: Dialect | undefined;
  /** The relay knows this dialect. */
  onDialect: (dialect: Dialect) => void;
  /** How long the next poll may ask the relay to wait. */
  waitMs: (dialect: Dialect) => number;
  poll: (dialect: Dialect, options: Pick<PollOptions, "waitMs" | "from" | "signal" | "onSent">) => Promise<PollAnswer>;
}

/** One receiving leg that consists of polls, each begun when the one before it has been answered. */
export interface PollLoop {
  /** Resolves once a poll waits at the relay. @throws HumanPlusError */
  opened(): Promise<void>;
  deliveries(): AsyncGenerator<Delivery, void>;
}

interface RunningPoll {
  readonly askedMs: number;
  readonly sent: Promise<void>;
  readonly answer: Promise<PollAnswer>;
  tookMs(): number;
}

/** A first poll that is not answered within this time although it asked for no wait was made to wait all the same. */
const PARKED_MS = 250;
/** How long before the deadline of whoever waits longest a resting loop asks once more. */
const LAST_CHANCE_MS = 100;
/** A subscriber goes where cursors go, and must not be taken for one. */
const SUBSCRIBER = "subscriber:";

export function createPollLoop(options: PollLoopOptions): PollLoop {
  const { after, demand, signal, onDialect, waitMs, poll } = options;
  let { dialect, otherDialect } = options;
  const pacing = createPacing();
  let from = fromOf(after);
  let lastBody = "";
  let isKnown = false;
  let first: PollBatch | undefined;
  let current: RunningPoll;

  function fromOf(cursor: string | undefined): string | undefined {
    const isSubscriber = cursor?.startsWith(SUBSCRIBER) === true;
    if (isSubscriber !== (dialect === "poll")) return undefined;
    return isSubscriber ? cursor?.slice(SUBSCRIBER.length) : cursor;
  }

  function ask(askedMs: number): RunningPoll {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    let sentAt = performance.now();
    let tookMs = 0;
    const onSent = () => {
      sentAt = performance.now();
      resolve();
    };
    const answer = poll(dialect, { waitMs: askedMs, from, signal, onSent }).finally(() => {
      tookMs = performance.now() - sentAt;
      resolve();
    });
    answer.catch(() => {}); // whoever looks at it learns of it
    return { askedMs, sent, answer, tookMs: () => tookMs };
  }

  /** Changes over to the other dialect. @throws HumanPlusError where there is none */
  function change(error: HumanPlusError): void {
    if (otherDialect === undefined) throw error;
    dialect = otherDialect;
    otherDialect = undefined;
    from = fromOf(after);
  }

  function read(body: string): PollBatch {
    if (!isKnown) onDialect(dialect);
    isKnown = true;
    otherDialect = undefined;
    const batch = readPollBatch(dialect, body, from);
    const isNew = batch.from !== from;
    from = batch.from;
    if (from === undefined || (!isNew && batch.deliveries.length === 0)) return batch;
    const cursor = dialect === "poll" ? SUBSCRIBER + from : from;
    const last = batch.deliveries.at(-1);
    const deliveries: Delivery[] =
      last === undefined ? [{ kind: "cursor", cursor }] : [...batch.deliveries.slice(0, -1), { ...last, cursor }];
    return { ...batch, deliveries };
  }

  async function rest(poll: RunningPoll): Promise<void> {
    const restMs = pacing.restMs(poll.tookMs(), poll.askedMs);
    if (restMs === 0) return;
    const remainingMs = demand.remainingMs();
    const isNeeded = await demand.pause(
      Math.min(restMs, remainingMs > LAST_CHANCE_MS ? remainingMs - LAST_CHANCE_MS : remainingMs),
    );
    if (isNeeded) pacing.reset();
  }

  return {
    // The first poll asks for no wait: its answer says that the relay knows us, in which dialect, and from where on it
    // keeps what is for us. The second one waits there before anything is posted, for relays that keep nothing.
    async opened() {
      for (;;) {
        current = ask(0);
        const answer = await firstOf(current);
        if (answer === undefined) return;
        if (answer.kind === "missing") {
          change(answer.error);
          continue;
        }
        first = read(answer.body);
        lastBody = answer.body;
        current = ask(waitMs(dialect));
        return current.sent;
      }
    },

    async *deliveries() {
      if (first !== undefined) yield* first.deliveries;
      for (;;) {
        const answer = await current.answer;
        if (signal.aborted) return;
        if (answer.kind === "missing") {
          change(answer.error);
          current = ask(waitMs(dialect));
          continue;
        }
        const { deliveries, hasFrames } = read(answer.body);
        // A queue that never lets go of what it gave would be asked without a pause.
        const isNews = hasFrames && answer.body !== lastBody;
        lastBody = answer.body;
        if (isNews) {
          pacing.reset();
          current = ask(waitMs(dialect));
          yield* deliveries;
        } else {
          yield* deliveries;
          await rest(current);
          if (signal.aborted) return;
          current = ask(waitMs(dialect));
        }
      }
    },
  };
}

/** The answer to a poll, unless the relay makes it wait. */
async function firstOf({ answer, sent }: RunningPoll): Promise<PollAnswer | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const parked = sent.then(
    () =>
      new Promise<undefined>((resolve) => {
        if (!isOver) timer = setTimeout(resolve, PARKED_MS, undefined).unref();
      }),
  );
  try {
    return await Promise.race([answer, parked]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
