import {
  describeValue,
  invalidArgument,
  refuseUnknown,
  requireInteger,
  requireMatch,
  requireOptions,
  requireType,
} from "../argument.ts";
import { type AgUiContext, agUiNames } from "../events.ts";
import type { SurfaceFeed } from "../feed/occurrence.ts";
import { type ContextDetail, SurfaceContext } from "./context-entry.ts";
import { requireProjection, type SurfaceProjection } from "./projection.ts";
import { type SurfaceActivity, SurfaceLog } from "./surface-log.ts";
import { ProjectedStream, type SurfaceStream } from "./surface-stream.ts";

export interface SurfaceProjectorOptions {
  /** What happens there: `observeSession(session)` on an agent's side, `observeSurface(surface)` on the owner's. */
  surface: SurfaceFeed;
  /** Names the surface in ids, activity types and words to a model: 1 to 40 of `A-Za-z0-9_-`. @default "surface" */
  name?: string | undefined;
  /** What may leave besides our own words and numbers. @default nothing */
  projection?: SurfaceProjection | undefined;
  /** Show `ACTIVITY_SNAPSHOT` and `ACTIVITY_DELTA`. @default true */
  activity?: boolean | undefined;
  /** Tell each occurrence as `CUSTOM`, named `humanplus.` and its type. @default false */
  custom?: boolean | undefined;
  /** Keep the activity's content in shared state too, under `humanplus`. Whoever else snapshots state wipes it for a moment. @default false */
  state?: boolean | undefined;
  /** What a model is told of changes. `"changes"` holds handles and labels, framed as data. @default "counts" */
  contextDetail?: ContextDetail | undefined;
  /** Streams hear of news at most this often, in milliseconds. @default 250 */
  coalesceMs?: number | undefined;
  /** Entries in the activity: 1 to 200. @default 20 */
  maxEntries?: number | undefined;
  /** UTF-8 bytes of the activity's content, and characters of a context entry: 1,024 to 262,144. @default 16_384 */
  maxBytes?: number | undefined;
  /** UTF-8 bytes of what one callback of the projection gives: 16 to 65,536. @default 2_048 */
  maxDetailBytes?: number | undefined;
  /** Threads of which it is kept what they were told: 1 to 100,000. @default 1_000 */
  maxThreads?: number | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
}

export interface OpenStreamOptions {
  threadId: string;
  /** Shared state as the run begins: what `state` of the input says. For the option `state`. @default {} */
  state?: unknown;
  /** There is something to `take()`. Called at most once per `coalesceMs`. */
  onReady?: (() => void) | undefined;
}

/** Turns what happens on a surface into AG-UI events and words for a model. */
export interface SurfaceProjector extends Disposable {
  readonly activityType: string;
  /** The activity of a thread: the same in all its runs. */
  messageId(threadId: string): string;
  /** What is shown now. */
  content(): SurfaceActivity;
  /** A stream of one run. Close it when the run ends. @throws HumanPlusError `invalid_argument` */
  open(options: OpenStreamOptions): SurfaceStream;
  /** What happened since this thread was told last; nothing where there is nothing to say. The thread counts as told. */
  context(threadId: string): AgUiContext | undefined;
  /** A run's context with ours in place of every earlier one. */
  withContext(threadId: string, context: readonly AgUiContext[] | undefined): AgUiContext[];
  /** Ends the listening, and all streams. */
  close(): void;
}

const MAX_CUSTOM = 100;

/** @throws HumanPlusError `invalid_argument` that names the option, also for one that there is not */
export function createSurfaceProjector(options: SurfaceProjectorOptions): SurfaceProjector {
  requireOptions("options of a projector", options);
  const {
    surface,
    name = "surface",
    projection = {},
    activity = true,
    custom = false,
    state = false,
    contextDetail = "counts",
    coalesceMs = 250,
    maxEntries = 20,
    maxBytes = 16_384,
    maxDetailBytes = 2_048,
    maxThreads = 1_000,
    now = Date.now,
    ...unknown
  } = options;
  refuseUnknown("options of a projector", unknown);
  if (typeof surface?.observe !== "function")
    throw invalidArgument(
      `surface should be a feed, as observeSession(session) or observeSurface(surface) gives, is ${describeValue(surface)}`,
    );
  requireMatch("name", name, /^[A-Za-z0-9_-]{1,40}$/);
  requireInteger("coalesceMs", coalesceMs, { min: 0, max: 60_000 });
  requireInteger("maxEntries", maxEntries, { min: 1, max: 200 });
  requireInteger("maxBytes", maxBytes, { min: 1_024, max: 262_144 });
  requireInteger("maxDetailBytes", maxDetailBytes, { min: 16, max: 65_536 });
  requireInteger("maxThreads", maxThreads, { min: 1, max: 100_000 });
  if (contextDetail !== "counts" && contextDetail !== "changes")
    throw invalidArgument(`contextDetail should be "counts" or "changes", is ${describeValue(contextDetail)}`);
  for (const [key, value] of Object.entries({ activity, custom, state })) requireType(key, value, "boolean");
  requireType("now", now, "function");
  requireProjection(projection);

  const log = new SurfaceLog({ name, projection, maxEntries, maxBytes, maxDetailBytes, now });
  const context = new SurfaceContext({ name, detail: contextDetail, maxThreads, maxBytes });
  const streams = new Set<{ stream: ProjectedStream; news: () => void }>();
  const activityType = `${agUiNames.type}surface`;
  const messageId = (threadId: string) => `${agUiNames.id}${name}-${shortOf(requireThread(threadId))}`;
  const stop = surface.observe((occurrence) => {
    const entry = log.add(occurrence);
    context.add(occurrence);
    for (const { stream, news } of streams) {
      stream.add(entry);
      news();
    }
  });
  const close = () => {
    stop();
    for (const { stream } of [...streams]) stream.close();
  };

  return {
    activityType,
    messageId,
    content: () => log.content(),
    open(stream) {
      requireOptions("options of a stream", stream);
      // A handler says more of its run than is looked at here.
      const { threadId, state: shared, onReady } = stream;
      requireType("onReady", onReady, "function");
      let timer: ReturnType<typeof setTimeout> | undefined;
      let readyAt = 0;
      const own = {
        stream: new ProjectedStream({
          messageId: messageId(threadId),
          activityType,
          activity,
          custom,
          stateKey: state ? agUiNames.key : undefined,
          state: shared,
          maxCustom: MAX_CUSTOM,
          now,
          content: () => log.content(),
          isEmpty: () => log.isEmpty,
          onClose() {
            clearTimeout(timer);
            streams.delete(own);
          },
        }),
        news() {
          if (timer !== undefined || onReady === undefined) return;
          timer = setTimeout(
            () => {
              timer = undefined;
              readyAt = performance.now() + coalesceMs;
              onReady();
            },
            Math.max(0, readyAt - performance.now()),
          );
          unref(timer);
        },
      };
      streams.add(own);
      return own.stream;
    },
    context: (threadId) => context.entry(requireThread(threadId)),
    withContext: (threadId, given) => context.replace(given, context.entry(requireThread(threadId))),
    close,
    [Symbol.dispose]: close,
  };
}

function requireThread(threadId: unknown): string {
  if (typeof threadId === "string") return threadId;
  throw invalidArgument(`threadId should be a text, is ${describeValue(threadId)}`);
}

/** Fits into an id, whatever a client chose: as it is if it is short and plain, else two hashes of it. */
function shortOf(threadId: string): string {
  if (/^[A-Za-z0-9._:-]{1,64}$/.test(threadId)) return threadId;
  return `h${hash(threadId, 0x811c9dc5)}${hash(threadId, 0x01000193)}`;
}

/** FNV-1a over UTF-16 code units: to tell threads apart, not to hide them. */
function hash(text: string, seed: number): string {
  let value = seed;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}

/** A timer of Node keeps nothing alive. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
