import { HumanPlusError } from "@human-plus/core";
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
import { PrismMapper } from "./prism-mapper.ts";
import { ProjectionLegs } from "./projection-legs.ts";
import { AgUiRefusal, type FailureName } from "./refusal.ts";
import { RunEdge, type RunEdgeParts } from "./run-edge.ts";
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

/** One run as a body: drives it as fast as its reader reads, and ends it once. */
export class RunStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Everything was read, or nobody reads any more. */
  readonly done: Promise<void>;
  readonly #parts: RunStreamParts;
  readonly #frames: FrameStream;
  readonly #edge: RunEdge;
  readonly #legs: ProjectionLegs;
  readonly #mapper: PrismMapper;
  readonly #abort = new AbortController();
  /** The run is over, and what drove it was let go. */
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  /** Ends what the run waits for. */
  #onStop: () => void = () => undefined;
  #hasSpoken = false;
  #mark: StoredStep["mark"] | undefined;
  /** The last event that is to be marked: whether others of its step follow shows in a moment. */
  #unmarked: { readonly event: AgUiEvent; readonly index: number } | undefined;

  constructor(parts: RunStreamParts) {
    const { codec, limits, onProblem } = parts;
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#frames = new FrameStream({
      codec,
      maxQueuedEvents: limits.maxQueuedEvents,
      pingMs: parts.pingMs,
      stallTimeoutMs: limits.stallTimeoutMs,
      onStall: () => this.stop("STALLED", "The reader is too slow"),
      onCancel: () => this.stop("CANCELLED", "The client went away"),
    });
    this.body = this.#frames.body;
    this.done = this.#frames.done;
    const onFault = (fault: string) => onProblem(fault);
    this.#edge = new RunEdge({ ...parts, send: (event, text) => this.#send(event, text), onFault });
    this.#mapper = new PrismMapper({ ...parts, position: parts.rereading?.position, onFault });
    this.#legs = new ProjectionLegs({
      projection: parts.projection,
      run: { threadId: parts.threadId, runId: parts.runId, messages: parts.messages, state: parts.state },
      room: () => this.#frames.room(),
      accept: (event) => {
        if (!this.#edge.isEnded) this.#edge.acceptBeside(event);
        this.#checkEnd();
      },
      onProblem,
    });
  }

  /** Ends the run from outside: what drives it is aborted, and the client gets one terminal event. */
  stop(name: FailureName, message: string): void {
    this.#edge.fail(name, message);
    this.#abort.abort(new Error(message));
    this.#frames.end();
    this.#legs.close();
    this.#onStop();
    this.#resolveEnded();
  }

  start(): void {
    this.#edge.start();
    this.#legs.open();
    this.#drive().catch((error: unknown) => {
      this.#parts.onProblem("the stream failed", error);
      this.stop("EVENT", "The stream failed");
    });
  }

  async #drive(): Promise<void> {
    let iterator: AsyncIterator<unknown> | undefined;
    try {
      await this.#legs.take();
      const opening = Promise.resolve(this.#parts.open(this.#abort.signal));
      const source = await this.#unlessStopped(opening);
      if (source === undefined) {
        opening.then((late) => leave(late[Symbol.asyncIterator]())).catch(() => undefined);
        return;
      }
      iterator = source[Symbol.asyncIterator]();
      await this.#consume(iterator);
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.#legs.close();
      this.#frames.end();
      this.#resolveEnded();
      if (iterator !== undefined) void leave(iterator);
    }
  }

  async #consume(iterator: AsyncIterator<unknown>): Promise<void> {
    for (let step = 1; ; step++) {
      const next = await this.#unlessStopped(iterator.next());
      if (next === undefined) return;
      if (next.done === true) break;
      this.#hasSpoken = true;
      await this.#unlessStopped(this.#take(next.value));
      if (this.#edge.isEnded) {
        if (!this.#abort.signal.aborted) await drain(iterator, WIND_UP_MS);
        return;
      }
      const room = this.#frames.room();
      if (room !== undefined) await this.#unlessStopped(room);
      if (step % STEPS_PER_TURN === 0) await nextTurn();
    }
    await this.#legs.take();
    if (this.#mapper.isOverLimit) this.#edge.fail("LIMIT", "The run exceeded a limit of its own");
    else if (this.#parts.rereading !== undefined) this.#parts.rereading.atEnd(this.#edge);
    else if (this.#edge.sawStart) this.#edge.fail("INCOMPLETE", "The run ended without saying how");
    else this.#edge.finish();
  }

  async #take(said: unknown): Promise<void> {
    const step: Partial<StoredStep> = this.#parts.rereading === undefined ? { event: said } : (said as StoredStep);
    const { event, mark, isPast = false } = step;
    // Types of Prism are in lower case, those of AG-UI are not.
    const isPrism = isObject(event) && typeof event["type"] === "string" && /^[a-z]/.test(event["type"]);
    if (!isPrism) return await this.#accept([event as LooseEvent]);
    await this.#takePrism(parsePrismEvent(event), mark, isPast);
  }

  async #takePrism(event: PrismEvent, mark: StoredStep["mark"] | undefined, isPast: boolean): Promise<void> {
    this.#edge.expectsEnd();
    const events: LooseEvent[] = await this.#mapper.map(event);
    if (event.type === "agent_suspended" && !isPast) {
      const interrupts = await this.#parts.onSuspended(event);
      events.push({ type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts } });
    }
    if (events.length === 0 && mark !== undefined)
      events.push({ type: "CUSTOM", name: "humanplus.cursor", value: null });
    await this.#accept(events, mark);
  }

  async #accept(events: readonly LooseEvent[], mark?: StoredStep["mark"]): Promise<void> {
    const isEnd = events.some((event) => event?.type === "RUN_FINISHED" || event?.type === "RUN_ERROR");
    if (isEnd) await this.#legs.take();
    this.#mark = mark;
    for (const event of events) this.#edge.accept(event);
    this.#sendUnmarked(true);
    this.#mark = undefined;
    if (isEnd) this.#frames.end();
    else this.#checkEnd();
  }

  /** The edge ended by itself: something was broken, or over a limit. */
  #checkEnd(): void {
    if (!this.#edge.isEnded) return;
    this.#frames.end();
    this.#abort.abort(new Error("The run was ended"));
  }

  #send(event: AgUiEvent, text: string): number {
    this.#legs.saw(event);
    if (this.#mark !== undefined) {
      const index = (this.#unmarked?.index ?? -1) + 1;
      this.#sendUnmarked(false);
      this.#unmarked = { event, index };
      return text.length;
    }
    const frame = this.#parts.codec.frame(event, text);
    this.#frames.push(frame);
    return frame.length;
  }

  #sendUnmarked(isLast: boolean): void {
    if (this.#unmarked === undefined || this.#mark === undefined) return;
    const { event, index } = this.#unmarked;
    const humanplus = this.#mark(index, isLast ? this.#mapper.position : undefined);
    const marked = { ...event, metadata: { ...event.metadata, humanplus } };
    this.#frames.push(this.#parts.codec.frame(marked, JSON.stringify(marked)));
    if (isLast) this.#unmarked = undefined;
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#edge.isEnded) return;
    const { earlyFailure = "RUN", onProblem } = this.#parts;
    onProblem("the run failed", error);
    await this.#legs.take();
    if (error instanceof AgUiRefusal) this.#edge.fail("RUN", error.message, error.code);
    else if (error instanceof HumanPlusError)
      this.#edge.fail(
        "RUN",
        `The run failed: ${error.code}, ${outcomes[error.outcome]}`,
        `HUMAN_PLUS_${error.code.toUpperCase()}`,
      );
    else this.#edge.fail(this.#hasSpoken ? "RUN" : earlyFailure, "The run failed");
  }

  /** Waits, but not for longer than anybody listens. */
  #unlessStopped<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#onStop = () => resolve(undefined);
      promise.then(resolve, reject); // once it was stopped, nobody hears of this
      if (this.#abort.signal.aborted) resolve(undefined);
    });
  }
}

const outcomes = {
  not_applied: "nothing was applied",
  applied: "its call was applied",
  unknown: "it is not known whether its call was applied",
} as const;
