import { HumanPlusError } from "@human-plus/core";
import { describeValue } from "../argument.ts";
import { isObject } from "../bounded-json.ts";
import type { AgUiEvent, AgUiInterrupt } from "../events.ts";
import type { Awaitable, Projection } from "../projection.ts";
import { nextTurn, STEPS_PER_TURN } from "./at-most.ts";
import { drain, leave } from "./drain.ts";
import type { LooseEvent } from "./event-fields.ts";
import type { FrameCodec } from "./frame-codec.ts";
import { FrameStream } from "./frame-stream.ts";
import type { Limits } from "./limits.ts";
import { parsePrismEvent } from "./parse-prism-event.ts";
import type { PrismEvent, PrismEventOf } from "./prism-events.ts";
import { createPrismMapper } from "./prism-mapper.ts";
import { createProjectionLegs } from "./projection-legs.ts";
import { AgUiRefusal, type FailureName } from "./refusal.ts";
import { createRunEdge, type RunEdge, type RunEdgeParts } from "./run-edge.ts";
import type { TurnPosition } from "./turn-mapper.ts";

/** An event that is read again. */
export interface StoredStep {
  readonly event: unknown;
  /**
   * What comes of it carries this in `metadata` under `humanplus`, by its number.
   *
   * @param position of the mapper, with the last of them
   */
  readonly mark: (index: number, position: TurnPosition | undefined) => Readonly<Record<string, string>>;
  /** A suspension that lies in the past: nobody is asked. */
  readonly isPast: boolean;
}

/** How a run is read again, which gives a `StoredStep` for each event. */
export interface Rereading {
  /** Where an earlier page left off. */
  readonly position: TurnPosition | undefined;
  /** Ends a stream of which the run said no end. */
  readonly atEnd: (edge: RunEdge) => void;
}

export interface RunStreamParts extends Omit<RunEdgeParts, "send" | "onFault"> {
  readonly limits: Limits;
  readonly codec: FrameCodec;
  readonly pingMs: number;
  readonly projection: Projection;
  readonly rereading?: Rereading | undefined;
  /** Begins the run, of events of AG-UI or of Prism. It is to stop when the signal aborts. */
  readonly open: (signal: AbortSignal) => Awaitable<AsyncIterable<unknown>>;
  /** Says what a person is asked, once a run of Prism waits; awaited before anybody sees it. */
  readonly onSuspended: (event: PrismEventOf<"agent_suspended">) => Promise<readonly AgUiInterrupt[]>;
  /** How a run fails that threw before it said anything. @default RUN */
  readonly earlyFailure?: FailureName | undefined;
  readonly onProblem: (message: string, cause?: unknown) => void;
}

/** How long a run that ended may take to wind up, in milliseconds. */
const WIND_UP_MS = 5_000;

/** Stands for what was not waited for: a run may give anything else, and nothing at all. */
const stopped: unique symbol = Symbol("stopped");

/** One run as a body: drives it as fast as its reader reads, and ends it once. */
export interface RunStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Everything was read, or nobody reads any more. */
  readonly done: Promise<void>;
  /** The run is over, and what drove it was let go. */
  readonly ended: Promise<void>;
  start(): void;
  /** Ends the run from outside: what drives it is aborted, and the client gets one terminal event. */
  stop(name: FailureName, message: string): void;
}

export function createRunStream(parts: RunStreamParts): RunStream {
  const { limits, codec, rereading, onProblem } = parts;
  const abort = new AbortController();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>();
  const frames = new FrameStream({
    codec,
    maxQueuedEvents: limits.maxQueuedEvents,
    pingMs: parts.pingMs,
    stallTimeoutMs: limits.stallTimeoutMs,
    onStall: () => stop("STALLED", "The reader is too slow"),
    onCancel: () => stop("CANCELLED", "The client went away"),
  });
  const onFault = (fault: string) => onProblem(fault);
  const edge = createRunEdge({ ...parts, send, onFault });
  const mapper = createPrismMapper({ ...parts, position: rereading?.position, onFault });
  const { threadId, runId, messages, state } = parts;
  const legs = createProjectionLegs({
    projection: parts.projection,
    run: { threadId, runId, messages, state },
    room: () => frames.room(),
    accept(event) {
      edge.acceptBeside(event);
      checkEnd();
    },
    onProblem,
  });
  /** Ends what the run waits for. */
  let onStop: () => void = () => undefined;
  let hasSpoken = false;
  let mark: StoredStep["mark"] | undefined;
  /** The last event that is to be marked: whether others of its step follow shows in a moment. */
  let unmarked: { readonly event: AgUiEvent; readonly index: number } | undefined;

  function stop(name: FailureName, message: string): void {
    edge.fail(name, message);
    abort.abort(new Error(message));
    onStop();
    wind();
  }

  /** Nothing more is said. */
  function wind(): void {
    legs.close();
    frames.end();
    resolveEnded();
  }

  async function drive(): Promise<void> {
    let iterator: AsyncIterator<unknown> | undefined;
    try {
      await legs.take();
      const opening = Promise.resolve(parts.open(abort.signal));
      const source = await unlessStopped(opening);
      if (source === stopped) {
        opening.then((late) => leave(late[Symbol.asyncIterator]())).catch(() => undefined);
        return;
      }
      if (typeof (source as Partial<typeof source> | undefined)?.[Symbol.asyncIterator] !== "function")
        throw new TypeError(`run should give an async iterable, is ${describeValue(source)}`);
      iterator = source[Symbol.asyncIterator]();
      await consume(iterator);
    } catch (error) {
      await failWith(error);
    } finally {
      wind();
      if (iterator !== undefined) void leave(iterator);
    }
  }

  async function consume(iterator: AsyncIterator<unknown>): Promise<void> {
    for (let step = 1; ; step++) {
      const next = await unlessStopped(iterator.next());
      if (next === stopped) return;
      if (next.done === true) break;
      hasSpoken = true;
      await unlessStopped(take(next.value));
      if (edge.isEnded) {
        if (!abort.signal.aborted) await drain(iterator, WIND_UP_MS);
        return;
      }
      const room = frames.room();
      if (room !== undefined) await unlessStopped(room);
      if (step % STEPS_PER_TURN === 0) await nextTurn();
    }
    await legs.take();
    if (mapper.isOverLimit) edge.fail("LIMIT", "The run exceeded a limit of its own");
    else if (rereading !== undefined) rereading.atEnd(edge);
    else if (edge.sawStart) edge.fail("INCOMPLETE", "The run ended without saying how");
    else edge.finish();
  }

  async function take(said: unknown): Promise<void> {
    const step: Partial<StoredStep> = rereading === undefined ? { event: said } : (said as StoredStep);
    const { event, isPast = false } = step;
    // Types of Prism are in lower case, those of AG-UI are not.
    const isPrism = isObject(event) && typeof event["type"] === "string" && /^[a-z]/.test(event["type"]);
    if (!isPrism) return await accept([event as LooseEvent]);
    await takePrism(parsePrismEvent(event), step.mark, isPast);
  }

  async function takePrism(event: PrismEvent, by: StoredStep["mark"] | undefined, isPast: boolean): Promise<void> {
    edge.expectsEnd();
    const events: LooseEvent[] = await mapper.map(event);
    if (event.type === "agent_suspended" && !isPast) {
      const interrupts = await parts.onSuspended(event);
      events.push({ type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts } });
    }
    if (events.length === 0 && by !== undefined) events.push({ type: "CUSTOM", name: "humanplus.cursor", value: null });
    await accept(events, by);
  }

  async function accept(events: readonly LooseEvent[], by?: StoredStep["mark"]): Promise<void> {
    const isEnd = events.some((event) => event?.type === "RUN_FINISHED" || event?.type === "RUN_ERROR");
    if (isEnd) await legs.take();
    mark = by;
    for (const event of events) edge.accept(event);
    sendUnmarked(true);
    mark = undefined;
    if (isEnd) frames.end();
    else checkEnd();
  }

  /** The edge ended by itself: something was broken, or over a limit. */
  function checkEnd(): void {
    if (!edge.isEnded) return;
    frames.end();
    abort.abort(new Error("The run was ended"));
    onStop();
  }

  function send(event: AgUiEvent, text: string): number {
    legs.saw(event);
    if (mark !== undefined) {
      const index = (unmarked?.index ?? -1) + 1;
      sendUnmarked(false);
      unmarked = { event, index };
      return text.length;
    }
    const frame = codec.frame(event, text);
    frames.push(frame);
    return frame.length;
  }

  function sendUnmarked(isLast: boolean): void {
    if (unmarked === undefined || mark === undefined) return;
    const { event, index } = unmarked;
    const humanplus = mark(index, isLast ? mapper.position : undefined);
    const marked = { ...event, metadata: { ...event.metadata, humanplus } };
    frames.push(codec.frame(marked, JSON.stringify(marked)));
    if (isLast) unmarked = undefined;
  }

  async function failWith(error: unknown): Promise<void> {
    if (edge.isEnded) return;
    onProblem("the run failed", error);
    await legs.take();
    if (error instanceof AgUiRefusal) edge.fail("RUN", error.message, error.code);
    else if (error instanceof HumanPlusError)
      edge.fail(
        "RUN",
        `The run failed: ${error.code}, ${outcomes[error.outcome]}`,
        `HUMAN_PLUS_${error.code.toUpperCase()}`,
      );
    else edge.fail(hasSpoken ? "RUN" : (parts.earlyFailure ?? "RUN"), "The run failed");
  }

  /** Waits, but not for longer than anybody listens. */
  function unlessStopped<T>(promise: Promise<T>): Promise<T | typeof stopped> {
    return new Promise((resolve, reject) => {
      onStop = () => resolve(stopped);
      promise.then(resolve, reject); // once it was stopped, nobody hears of this
      if (abort.signal.aborted) resolve(stopped);
    });
  }

  return {
    body: frames.body,
    done: frames.done,
    ended,
    start() {
      edge.start();
      legs.open();
      drive().catch((error: unknown) => {
        onProblem("the stream failed", error);
        stop("EVENT", "The stream failed");
      });
    },
    stop,
  };
}

const outcomes = {
  not_applied: "nothing was applied",
  applied: "its call was applied",
  unknown: "it is not known whether its call was applied",
} as const;
