import { byteLength, isObject } from "../bounded-json.ts";
import type { Awaitable } from "../projection.ts";
import type { Limits } from "./limits.ts";
import { AgUiRefusal, badInput, codeOf, forbidden, overLimit } from "./refusal.ts";
import { CURSOR_OVERHEAD, formatCursor, parseCursor, type ReplayCursor } from "./replay-cursor.ts";
import type { RunEdge } from "./run-edge.ts";
import type { Ownership, RequestContext } from "./run-lifecycle.ts";
import type { Rereading, StoredStep } from "./run-stream.ts";

export interface AgentEventRequest {
  readonly ownership: Ownership;
  readonly sessionId: string;
  readonly runId: string;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AgentEventItem {
  readonly record: { readonly id: string; readonly event: unknown };
  /** Opaque, and bound to owner and run. */
  readonly cursor: string;
}

/** Stored events of runs, in order. `createMemoryAgentEventSource` of Prism makes one, and so does its PostgreSQL. */
export interface AgentEventSource {
  page(request: AgentEventRequest): Promise<{
    readonly items: readonly AgentEventItem[];
    readonly nextCursor?: string | undefined;
    /** The run is over, and these are its last events. */
    readonly terminal: boolean;
  }>;
  /** The stored events, then those to come, until the run is over. */
  subscribe?: ((request: AgentEventRequest) => AsyncIterable<AgentEventItem>) | undefined;
}

export interface ReplayOptions<A> {
  source: AgentEventSource;
  /** Finds the run, and whose it is, from who asks. Nothing means that there is none for whoever asks. */
  resolveRun: (
    context: RequestContext<A>,
  ) => Awaitable<{ readonly sessionId: string; readonly runId: string; readonly ownership: Ownership } | undefined>;
}

/** A run that may be read again. */
export interface AcceptedReplay extends Rereading {
  readonly events: (signal: AbortSignal) => AsyncIterable<StoredStep>;
}

/** The cursor of a request that reads a run again. */
export function cursorOf(request: Request): string | undefined {
  return new URL(request.url).searchParams.get("cursor") ?? undefined;
}

/** @throws AgUiRefusal 400, 403, 413 */
export async function acceptReplay<A>(
  options: ReplayOptions<A> | undefined,
  text: string,
  limits: Limits,
  context: RequestContext<A>,
): Promise<AcceptedReplay> {
  if (options === undefined) throw new AgUiRefusal(400, "Replay is not configured", { code: codeOf("REPLAY") });
  if (byteLength(text) > (limits.maxCursorBytes + CURSOR_OVERHEAD) * 2)
    throw overLimit("cursor exceeds maxCursorBytes");
  const cursor = parseCursor(text);
  if (cursor === undefined) throw badInput("cursor is invalid");
  if (byteLength(cursor.after ?? "") > limits.maxCursorBytes) throw overLimit("cursor exceeds maxCursorBytes");
  const run = await options.resolveRun(context);
  if (run === undefined || run === null) throw forbidden("Run is unavailable");
  const { sessionId, runId, ownership } = run;
  const reader = new RunReader(options.source, { sessionId, runId, ownership }, cursor, limits);
  const follows = new URL(context.request.url).searchParams.get("follow") !== "false";
  return {
    position: cursor.position,
    events: (signal) =>
      follows && options.source.subscribe !== undefined ? reader.follow(signal) : reader.page(signal),
    atEnd: (edge) => reader.end(edge),
  };
}

/** Reads the events of one run. */
class RunReader {
  readonly #source: AgentEventSource;
  readonly #run: Pick<AgentEventRequest, "ownership" | "sessionId" | "runId">;
  readonly #limits: Limits;
  readonly #after: string | undefined;
  /** How far the client is. */
  #cursor: string | undefined;
  #isTerminal = false;

  constructor(
    source: AgentEventSource,
    run: Pick<AgentEventRequest, "ownership" | "sessionId" | "runId">,
    { after }: ReplayCursor,
    limits: Limits,
  ) {
    this.#source = source;
    this.#run = run;
    this.#after = after;
    this.#limits = limits;
  }

  async *page(signal: AbortSignal): AsyncGenerator<StoredStep> {
    const page = await this.#source.page({
      ...this.#run,
      after: this.#after,
      limit: this.#limits.maxReplayEvents,
      signal,
    });
    const items = page.items.slice(0, this.#limits.maxReplayEvents);
    for (const [index, item] of items.entries()) {
      const isLast = index === items.length - 1;
      yield await this.#step(item, isLast ? undefined : true, signal);
    }
    this.#isTerminal = page.terminal && items.length === page.items.length;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<StoredStep> {
    for await (const item of this.#source.subscribe?.({ ...this.#run, after: this.#after, signal }) ?? [])
      yield await this.#step(item, undefined, signal);
    this.#isTerminal = true;
  }

  /** A page that is not the last is a stream that went well, and says where the next begins. */
  end(edge: RunEdge): void {
    if (this.#isTerminal) edge.fail("INCOMPLETE", "The run ended without saying how");
    else edge.finish({ result: { complete: false, ...(this.#cursor === undefined ? {} : { cursor: this.#cursor }) } });
  }

  /** @param isPast whether something follows; nothing if that is not known */
  async #step(
    { record, cursor }: AgentEventItem,
    isPast: boolean | undefined,
    signal: AbortSignal,
  ): Promise<StoredStep> {
    const { event, id } = record;
    const isSuspension = isObject(event) && event["type"] === "agent_suspended";
    return {
      event,
      isPast: isSuspension && (isPast ?? (await this.#hasMore(cursor, signal))),
      mark: (index, position) => {
        // Whoever got no more than the first events of a record reads all of it again.
        if (position !== undefined) this.#cursor = formatCursor(cursor, position);
        const eventId = index === 0 ? id : `${id}.${index}`;
        return this.#cursor === undefined ? { eventId } : { eventId, cursor: this.#cursor };
      },
    };
  }

  /** Whether a run went on after it was suspended: then nobody is to be asked again. */
  async #hasMore(after: string, signal: AbortSignal): Promise<boolean> {
    const { items } = await this.#source.page({ ...this.#run, after, limit: 1, signal });
    return items.length > 0;
  }
}
