import type { ChangeFeed, ChangeRow, JsonObject, RpcError } from "@human-plus/core/protocol";
import { type Agent, type FeedReading, isFailed, markerOf, type SurfaceProbe, type ToolCall } from "./surface-probe.ts";

/** What the stale-write probe may write. */
export interface ProbeWriteOptions extends ToolCall {
  /** Pairs of writes that are sent at once, pinned alike. @default 3 */
  rounds?: number | undefined;
  /** Told what will be written, before anything is. @default nobody */
  onPlan?: ((plan: WritePlan) => void) | undefined;
}

/** What the probe is about to write. */
export interface WritePlan {
  readonly tool: string;
  readonly args: JsonObject;
  /** Calls at most, those included that should be refused. */
  readonly calls: number;
  /** Each step, in words. */
  readonly steps: readonly string[];
}

/** What became of one write. */
export type Written =
  | { readonly kind: "written"; readonly marker: string | undefined }
  | { readonly kind: "refused"; readonly error: RpcError }
  /** The surface said that it did not work, for a reason of its own. */
  | { readonly kind: "failed"; readonly text: string };

/** What the stale-write probe saw. */
export interface WriteRecord {
  /** The surface gave a marker that can be pinned. */
  readonly mints: boolean;
  /** A write pinned to a fresh marker. */
  readonly fresh: Written;
  /** A write pinned to the answer of that one: nobody wrote in between. */
  readonly following: Written;
  /** A write of another agent, pinned to a marker from before both. */
  readonly stale: Written;
  /** The feed shows that something was written. */
  readonly changed: boolean;
  /** After a write, the marker was one from before it. */
  readonly repeats: boolean;
  /** What the feed then had, for the writer and for the other agent; `undefined` without one that can be read. */
  readonly rows: { readonly own: readonly ChangeRow[]; readonly other: readonly ChangeRow[] } | undefined;
  /**
   * The writer's feed from one marker, before and after the other agent wrote too; `undefined` if that agent could not, or
   * if the feed cannot be read.
   */
  readonly hands: { readonly before: ChangeFeed; readonly after: ChangeFeed } | undefined;
  /** Rows that came with the refused write; `undefined` if that cannot be told. */
  readonly rowsOfRefusal: number | undefined;
  /** Writes that were sent at once, pinned alike. */
  readonly pairs: readonly (readonly [Written, Written])[];
}

const DEFAULT_ROUNDS = 3;

export function planWrites({ name, args, rounds = DEFAULT_ROUNDS }: ProbeWriteOptions): WritePlan {
  return {
    tool: name,
    args,
    calls: 5 + 2 * rounds, // one of them only without a reading tool
    steps: [
      "once, pinned to a fresh marker: to be written",
      "once more, pinned to the answer of that one: to be written",
      "once as another agent, pinned to a marker from before both: to be refused",
      "once as that other agent, pinned to a fresh marker: to be written",
      `${rounds} times two at once, both pinned to the same fresh marker: one of each two to be written`,
      "at most once without a pin, if nothing that only reads gives a marker",
    ],
  };
}

/** Writes as the plan says, and remembers what became of it. */
export async function probeWrites(probe: SurfaceProbe, options: ProbeWriteOptions): Promise<WriteRecord> {
  const { first, second } = probe;
  await probe.handshake();
  options.onPlan?.(planWrites(options));

  const write = async (agent: Agent, revision: string | undefined): Promise<Written> => {
    const reply = await probe.call(options, { agent, revision });
    if (!reply.ok) return { kind: "refused", error: reply.error };
    if (isFailed(reply.result)) return { kind: "failed", text: probe.quoter.quote(reply.result["content"]) };
    return { kind: "written", marker: markerOf(reply.result) };
  };

  const before = await probe.askWholeFeed(undefined, first);
  const early = (await probe.freshMarker(second)) ?? markerAfter(await write(second, undefined));
  const pin = (await probe.freshMarker(first)) ?? early;
  const fresh = await write(first, pin);
  const following = await write(first, markerAfter(fresh) ?? (await probe.freshMarker(first)));
  const own = await probe.askWholeFeed(pin, first);
  const other = await probe.askWholeFeed(early, second);
  const after = await probe.askWholeFeed(undefined, first);
  const stale = await write(second, early);
  const later = await probe.askWholeFeed(early, second);
  const theirs = await write(second, later?.marker ?? (await probe.freshMarker(second)));
  const merged = theirs.kind === "written" ? await probe.askWholeFeed(pin, first) : undefined;
  const pairs: [Written, Written][] = [];
  if (early !== undefined && stale.kind === "refused") {
    for (let round = 0; round < (options.rounds ?? DEFAULT_ROUNDS); round++) {
      const mine = (await probe.freshMarker(first)) ?? lastMarker(pairs) ?? markerAfter(following);
      const theirs = (await probe.freshMarker(second)) ?? mine;
      pairs.push(await Promise.all([write(first, mine), write(second, theirs)]));
    }
  }
  return {
    mints: early !== undefined,
    fresh,
    following,
    stale,
    changed: rowsIn(own) > 0 || rowsIn(after) > rowsIn(before),
    repeats: early !== undefined && [fresh, following].some((written) => markerAfter(written) === early),
    rows: isReadable(own) && isReadable(other) ? { own: own.feed.changes, other: other.feed.changes } : undefined,
    hands: isReadable(own) && isReadable(merged) ? { before: own.feed, after: merged.feed } : undefined,
    rowsOfRefusal:
      isReadable(other) && isReadable(later) ? later.feed.changes.length - other.feed.changes.length : undefined,
    pairs,
  };
}

function isReadable(reading: FeedReading | undefined): reading is FeedReading {
  return reading !== undefined && reading.feed.unreadable === 0;
}

function rowsIn(reading: FeedReading | undefined): number {
  return reading?.feed.changes.length ?? 0;
}

function markerAfter(written: Written): string | undefined {
  return written.kind === "written" ? written.marker : undefined;
}

function lastMarker(pairs: readonly (readonly [Written, Written])[]): string | undefined {
  return pairs
    .at(-1)
    ?.map(markerAfter)
    .find((marker) => marker !== undefined);
}
