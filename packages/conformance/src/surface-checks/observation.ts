import { methods, safeParseAgentActivityNotification } from "@human-plus/core/protocol";
import type { FeedReading, SurfaceProbe } from "./surface-probe.ts";

/** What somebody is asked to do on the surface. */
export type ObservedAct = "change" | "delete";

export interface ObserveOptions {
  /** How long each act may take, in milliseconds. */
  timeoutMs: number;
  /** Acts on the surface as a person would, or asks somebody to. It need not wait for what it asked for. */
  act: (act: ObservedAct) => void | Promise<void>;
}

/** What was seen of one act. */
export interface Observed {
  readonly act: ObservedAct;
  /** The marker before, and one read afterwards. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The feed from the marker before; `undefined` where there is none. */
  readonly reading: FeedReading | undefined;
  /** The feed from before the first act. */
  readonly sinceStart: FeedReading | undefined;
  /** The feed, asked for all that it knows, has more rows than before. */
  readonly grew: boolean;
  /** Something shows that the act took place. */
  readonly happened: boolean;
  /** The surface told agents that a person acted. */
  readonly announced: boolean;
}

/** How often the feed is asked while nothing announces an act, in milliseconds. */
const INTERVAL_MS = 500;

/** Lets somebody act twice, and watches. */
export async function observe(probe: SurfaceProbe, options: ObserveOptions): Promise<readonly Observed[]> {
  const start = await probe.freshMarker();
  const change = await observeAct(probe, options, "change", start, start);
  return [change, await observeAct(probe, options, "delete", change.after, start)];
}

async function observeAct(
  probe: SurfaceProbe,
  { timeoutMs, act }: ObserveOptions,
  name: ObservedAct,
  before: string | undefined,
  start: string | undefined,
): Promise<Observed> {
  const shown = await content(probe);
  const known = await rowsKnown(probe);
  const heard = probe.notifications.length;
  const end = performance.now() + timeoutMs;
  await act(name);
  for (;;) {
    const reading = await probe.askWholeFeed(before);
    const after = await probe.freshMarker();
    const announced = probe.notifications.slice(heard).some(isPersonActing);
    const rows = (reading?.feed.changes.length ?? 0) > 0 || (reading?.feed.unreadable ?? 0) > 0;
    const moved = before !== undefined && after !== before;
    const grew = (await rowsKnown(probe)) > known;
    const happened = rows || grew || moved || announced || (await content(probe)) !== shown;
    const leftMs = end - performance.now();
    // A deletion may be one of several things that happen: all of the time is its own.
    const isEnough = name === "change" ? happened : deletes(reading) || (happened && !rows);
    if (isEnough || leftMs <= 0) {
      const sinceStart = await probe.askWholeFeed(start);
      return { act: name, before, after, reading, sinceStart, grew, happened, announced };
    }
    await probe.nextNotification(Math.min(INTERVAL_MS, leftMs));
  }
}

function deletes(reading: FeedReading | undefined): boolean {
  return reading?.feed.changes.some(({ kind }) => kind === "deleted") ?? false;
}

/** A person acted, says the surface. */
export function isPersonActing(notification: SurfaceProbe["notifications"][number]): boolean {
  if (notification.method !== methods.agentActivity) return false;
  const parsed = safeParseAgentActivityNotification(notification);
  return parsed.ok && parsed.value.params.source === "user";
}

async function rowsKnown(probe: SurfaceProbe): Promise<number> {
  return (await probe.askWholeFeed(undefined))?.feed.changes.length ?? 0;
}

/** What the reading tool shows, without what may differ between two reads of the same. */
async function content(probe: SurfaceProbe): Promise<string | undefined> {
  if (probe.read === undefined) return undefined;
  const reply = await probe.call(probe.read);
  if (!reply.ok) return undefined;
  const { _meta, ...shown } = reply.result;
  return JSON.stringify(shown);
}
