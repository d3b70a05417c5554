import { expect, test } from "vitest";
import { checkRelay, reportToTable } from "../src/index.ts";
import { type RelayFault, startSmallRelay } from "./parts/small-relay.ts";

/** What each fault is seen as, and nothing else. */
const found: Readonly<Record<RelayFault, readonly string[]>> = {
  "broadcasts replies": ["relay.routing.asker", "relay.routing.second-response", "relay.routing.unlabelled"],
  "401 for a gone session": ["relay.gone"],
  "410 for a wrong token": ["relay.bearer", "relay.token.wrong"],
  "delivers replies twice": ["relay.routing.once", "relay.routing.second-response"],
  "passes on second replies": ["relay.routing.second-response"],
  "passes on unasked replies": ["relay.routing.second-response", "relay.routing.unasked"],
  "no resume": ["relay.kept.before-leg", "relay.resume"],
  "repeats on resume": ["relay.resume"],
  "skips in silence": ["relay.gap"],
  "no retry": ["relay.stream.retry"],
  "no keepalive": ["relay.stream.keepalive"],
  buffers: ["relay.stream.head"],
  "passes on forged presence": ["relay.presence.forged"],
  "tells of every leg": ["relay.presence.joined"],
  "unregister ends the session": ["relay.presence.left", "relay.unregister.client"],
  "session taken over": ["relay.register.taken"],
  "changes ids": ["relay.stream.id"],
  "large frames break the connection": ["relay.frame.connection"],
  "takes any size": ["relay.frame.too-large"],
  "never absent": ["relay.surface.absent"],
  "same ids": ["relay.routing.same-id"],
  "direction inbound": ["relay.stream.direction"],
  "echoes the token": ["relay.token.hidden"],
  "plain refusals": ["relay.stream.refused"],
  "no OPTIONS": ["relay.options"],
  "tells agents what agents say": ["relay.routing.to-surface", "relay.stream.direction"],
  "repeats notifications": ["relay.routing.notifications"],
  "no replies to unlabelled agents": ["relay.routing.unlabelled"],
  "forgets a reload": ["relay.surface.reload"],
  "silent when a client leaves": ["relay.presence.left"],
  "mangles numbers": ["relay.stream.frame"],
  "refuses large frames that it should take": ["relay.frame.largest"],
};

const options = { local: true, timeoutMs: 5_000, concurrency: 12 };

test("a small relay without a fault is found sound, and what it does not offer is not blamed", async () => {
  await using relay = await startSmallRelay();
  const report = await checkRelay(relay.url, options);
  expect(findings(report)).toEqual([]);
  const unseen = report.results.filter(({ status }) => status === "unseen").map(({ id }) => id);
  expect(unseen).toContain("relay.poll-outbox.frames");
  expect(unseen).toContain("relay.bearer");
});

test.concurrent.each(Object.keys(found) as RelayFault[])(
  "a relay with the fault %s is found out, for that alone",
  async (fault) => {
    await using relay = await startSmallRelay(fault);
    const report = await checkRelay(relay.url, options);
    expect(findings(report), reportToTable(report)).toEqual([...found[fault]].sort());
    expect(report.ok).toBe(false);
  },
);

function findings({ results }: Awaited<ReturnType<typeof checkRelay>>): string[] {
  return results
    .filter(({ status }) => status === "does_not_hold")
    .map(({ id }) => id)
    .sort();
}
