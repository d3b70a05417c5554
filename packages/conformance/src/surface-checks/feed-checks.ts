import { limits, safeParseCallToolResult, utf8Length } from "@human-plus/core/protocol";
import type { CheckDefinition } from "../check.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import { replyToText } from "./session-checks.ts";
import { type FeedReading, isFailed, issuesToText, markerOf, type SurfaceProbe } from "./surface-probe.ts";

const NO_FEED = "no change feed was seen, and a surface need not offer one";
const NO_ROWS = "the feed has no rows yet: act on the surface, or use --observe";

/** What the change feed says, without anybody acting: PROTOCOL.md section 6. */
export const feedChecks: readonly CheckDefinition<SurfaceProbe>[] = [
  {
    id: "surface.feed",
    name: "a change feed is offered under a name that agents know",
    section: "6",
    level: "optional",
    async run(probe) {
      const name = await probe.feedName();
      return name === undefined ? unseen(NO_FEED) : holds(`as ${probe.quoter.quote(name)}`);
    },
  },
  {
    id: "surface.feed.answers",
    name: "the feed answers without arguments",
    section: "6",
    level: "must",
    async run(probe) {
      const name = await probe.feedName();
      if (name === undefined) return unseen(NO_FEED);
      const reply = await probe.call({ name, args: {} });
      if (reply.ok && !isFailed(reply.result)) return holds();
      return doesNotHold("a result", replyToText(reply, probe));
    },
  },
  {
    id: "surface.feed.rows",
    name: "the rows of the feed are a list, and each can be read",
    section: "6",
    level: "must",
    run: (probe) =>
      withHistory(probe, ({ feed, notices }) => {
        if (feed.unreadable === 0 && notices.length === 0) return holds(`${feed.changes.length} rows`);
        const saw = notices.length === 0 ? "" : `: ${issuesToText(notices)}`;
        return doesNotHold("a list of rows, each with a handle", `${feed.unreadable} that cannot be read${saw}`);
      }),
  },
  {
    id: "surface.feed.vocabulary",
    name: "kinds of change are words of the vocabulary",
    section: "6",
    level: "should",
    run: (probe) =>
      withRows(probe, ({ feed }) => {
        const strange = feed.changes.filter(({ kind }) => kind === "unknown");
        if (strange.length === 0) return holds();
        const of = `${strange.length} of ${feed.changes.length} rows`;
        return doesNotHold("created, updated, deleted, moved or a synonym", `${of} have no kind that agents recognise`);
      }),
  },
  {
    id: "surface.feed.attribution",
    name: "what others did is not attributed to the asking agent",
    section: "6",
    level: "must",
    run: (probe) =>
      withRows(probe, ({ feed: { changes } }) => {
        const agents = changes.filter(({ actor }) => actor === "agent");
        const expected = "no row of agent: the asking agent is new and has written nothing";
        if (agents.length > 0) return doesNotHold(expected, `${agents.length} of ${changes.length} rows say agent`);
        const named = changes.filter(({ actor }) => actor !== "unknown").length;
        if (named === 0) return unseen("no row names whose hand it was, so the surface does not attribute");
        return holds(`${named} of ${changes.length} rows name a hand`);
      }),
  },
  {
    id: "surface.feed.since",
    name: "asked from a marker it has just given, the feed does not repeat what was before",
    section: "6",
    level: "must",
    run: (probe) =>
      withRows(probe, async ({ feed, marker }) => {
        if (marker === undefined) return unseen("the feed's answers carry no marker");
        const later = await probe.askFeed(marker);
        if (later === undefined) return doesNotHold("a result", "an error for the feed's own marker");
        const { changes } = later.feed;
        if (JSON.stringify(changes) !== JSON.stringify(feed.changes)) return holds();
        return doesNotHold("rows after the marker", `the same ${changes.length} rows as without a marker`);
      }),
  },
  {
    id: "surface.feed.complete",
    name: "asked from a marker it has just given, the feed knows that it is complete",
    section: "6",
    level: "should",
    run: (probe) =>
      withHistory(probe, async ({ marker }) => {
        if (marker === undefined) return unseen("the feed's answers carry no marker");
        const later = await probe.askFeed(marker);
        if (later === undefined) return unseen("the feed answers with an error");
        return later.feed.complete ? holds() : doesNotHold("complete: true", "an answer that counts as partial");
      }),
  },
  {
    id: "surface.feed.unknown-marker",
    name: "for a marker it never gave, the feed does not say that nothing changed",
    section: "6",
    level: "must",
    async run(probe) {
      const name = await probe.feedName();
      if (name === undefined) return unseen(NO_FEED);
      const reply = await probe.call({ name, args: { since: `conformance-${crypto.randomUUID()}` } });
      if (!reply.ok || isFailed(reply.result)) return holds("it answers with an error");
      const reading = await probe.askFeed(`conformance-${crypto.randomUUID()}`);
      if (reading === undefined) return holds("it answers with an error");
      const { complete, changes, unreadable } = reading.feed;
      if (!complete || unreadable > 0) return holds();
      if (changes.length > 0) return holds("it answers with everything it knows");
      return doesNotHold("complete: false, or an error", "a complete answer without rows");
    },
  },
];

/** Results and markers, as far as reading shows them: PROTOCOL.md sections 5 and 7. */
export const resultChecks: readonly CheckDefinition<SurfaceProbe>[] = [
  {
    id: "surface.result",
    name: "a result can be read and is within its bound",
    section: "7",
    level: "must",
    async run(probe) {
      const call = await readingCall(probe);
      if (call === undefined) return unseen("nothing may be called without writing: name a tool with --read");
      const reply = await probe.call(call);
      if (!reply.ok) return doesNotHold("a result", replyToText(reply, probe));
      const parsed = safeParseCallToolResult(reply.result);
      if (!parsed.ok) return doesNotHold("content", issuesToText(parsed.issues));
      const { unreadable, content } = parsed.value;
      if (unreadable > 0) return doesNotHold("parts that can be read", issuesToText(parsed.notices));
      const bytes = utf8Length(JSON.stringify(content));
      if (bytes <= limits.resultBytes) return holds();
      return doesNotHold(`at most ${limits.resultBytes} bytes: agents refuse more`, `${bytes} bytes`);
    },
  },
  {
    id: "surface.marker",
    name: "results carry a marker",
    section: "5",
    level: "optional",
    async run(probe) {
      const call = await readingCall(probe);
      if (call === undefined) return unseen("nothing may be called without writing: name a tool with --read");
      const reply = await probe.call(call);
      if (!reply.ok) return unseen("the call was answered with an error");
      const parsed = markerOf(reply.result);
      if (parsed !== undefined) return holds();
      return unseen("the surface mints none: agents cannot tell whether they overwrite somebody's work");
    },
  },
  {
    id: "surface.marker.stable",
    name: "a marker stays the same while nothing changes",
    section: "5",
    level: "should",
    async run(probe) {
      const before = await probe.freshMarker();
      const after = await probe.freshMarker();
      if (before === undefined || after === undefined) return unseen("no result carried a marker");
      if (before === after) return holds();
      const between = await probe.askWholeFeed(before);
      if (between === undefined || between.feed.changes.length > 0 || !between.feed.complete)
        return unseen("it differs, and the surface may have changed meanwhile");
      return doesNotHold("the same marker twice: the feed says that nothing changed", "two different markers");
    },
  },
  {
    id: "surface.read-not-refused",
    name: "a read is not refused for a stale pin",
    section: "5",
    level: "must",
    async run(probe) {
      const call = await readingCall(probe);
      if (call === undefined) return unseen("nothing may be called without writing: name a tool with --read");
      const reply = await probe.call(call, { revision: `conformance-${crypto.randomUUID()}` });
      if (reply.ok || reply.error.conflict !== "stale") return holds();
      return doesNotHold("a result", replyToText(reply, probe));
    },
  },
];

async function readingCall(probe: SurfaceProbe) {
  if (probe.read !== undefined) return probe.read;
  const name = await probe.feedName();
  return name === undefined ? undefined : { name, args: {} };
}

async function withHistory(
  probe: SurfaceProbe,
  judge: (history: FeedReading) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  if ((await probe.feedName()) === undefined) return unseen(NO_FEED);
  const history = await probe.askFeed(undefined);
  return history === undefined ? unseen("the feed answers with an error") : judge(history);
}

function withRows(probe: SurfaceProbe, judge: (history: FeedReading) => Outcome | Promise<Outcome>): Promise<Outcome> {
  return withHistory(probe, (history) => (history.feed.changes.length === 0 ? unseen(NO_ROWS) : judge(history)));
}
