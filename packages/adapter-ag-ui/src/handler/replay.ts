import { byteLength, isObject } from "../bounded-json.ts";
import type { Awaitable } from "../projection.ts";
import type { Limits } from "./limits.ts";
import { AgUiRefusal, codeOf, forbidden, invalid, overLimit } from "./refusal.ts";
import { CURSOR_OVERHEAD, formatCursor, parseCursor, type ReplayCursor } from "./replay-cursor.ts";
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
  if (byteLength(text) > (limits.maxCursorBytes + CURSOR_OVERHEAD) * 2) throw overLimit("cursor", "maxCursorBytes");
  const cursor = parseCursor(text);
  if (cursor === undefined) throw invalid("cursor");
  if (byteLength(cursor.after ?? "") > limits.maxCursorBytes) throw overLimit("cursor", "maxCursorBytes");
  const run = await options.resolveRun(context);
  if (run === undefined || run === null) throw forbidden("Run is unavailable");
  const { sessionId, runId, ownership } = run;
  const follows = new URL(context.request.url).searchParams.get("follow") !== "false";
  return rereadRun(options.source, { sessionId, runId, ownership }, { cursor, limits, follows });
}

/** Reads the events of one run. */
function rereadRun(
  source: AgentEventSource,
  run: Pick<AgentEventRequest, "ownership" | "sessionId" | "runId">,
  {
    cursor: { after, position },
    limits: { maxReplayEvents: limit, maxCursorBytes },
    follows,
  }: { readonly cursor: ReplayCursor; readonly limits: Limits; readonly follows: boolean },
): AcceptedReplay {
  /** How far the client is. */
  let reached: string | undefined;
  let isTerminal = false;

  async function* page(signal: AbortSignal): AsyncGenerator<StoredStep> {
    const { items, terminal } = await source.page({ ...run, after, limit, signal });
    for (const [index, item] of items.slice(0, limit).entries())
      yield await step(item, signal, index + 1 < Math.min(items.length, limit));
    isTerminal = terminal && items.length <= limit;
  }

  async function* follow(signal: AbortSignal): AsyncGenerator<StoredStep> {
    for await (const item of source.subscribe?.({ ...run, after, signal }) ?? []) yield await step(item, signal);
    isTerminal = true;
  }

  /** @param hasMore whether something follows for sure */
  async function step({ record, cursor }: AgentEventItem, signal: AbortSignal, hasMore = false): Promise<StoredStep> {
    const { event, id } = record;
    for (const [name, text] of Object.entries({ id, cursor }))
      if (typeof text !== "string" || byteLength(text) > maxCursorBytes)
        throw new TypeError(`the source gave a record whose ${name} is no text, or exceeds maxCursorBytes`);
    const isSuspension = isObject(event) && event["type"] === "agent_suspended";
    return {
      event,
      isPast: isSuspension && (hasMore || (await wentOn(cursor, signal))),
      mark(index, at) {
        // Whoever got no more than the first events of a record reads all of it again.
        if (at !== undefined) reached = formatCursor(cursor, at);
        const eventId = index === 0 ? id : `${id}.${index}`;
        return reached === undefined ? { eventId } : { eventId, cursor: reached };
      },
    };
  }

  /** Whether a run went on after it was suspended: then nobody is to be asked again. */
  async function wentOn(suspendedAt: string, signal: AbortSignal): Promise<boolean> {
    const { items } = await source.page({ ...run, after: suspendedAt, limit: 1, signal });
    return items.length > 0;
  }

  return {
    position,
    events: (signal) => (follows && source.subscribe !== undefined ? follow(signal) : page(signal)),
    atEnd(edge) {
      // A page that is not the last is a stream that went well, and says where the next begins.
      if (isTerminal) edge.fail("INCOMPLETE", "The run ended without saying how");
      else edge.finish({ complete: false, ...(reached === undefined ? {} : { cursor: reached }) });
    },
  };
}
