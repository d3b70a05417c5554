import { describe, expect, test } from "vitest";
import { type CheckSurfaceOptions, checkSurface, type Report, reportToTable } from "../src/index.ts";
import { type SmallSurface, type SurfaceFault, startSmallSurface } from "./parts/small-surface.ts";

/** What each fault is seen as, and nothing else. */
const found: Readonly<Record<SurfaceFault, readonly string[]>> = {
  "mints but does not enforce": ["surface.write.stale"],
  "enforces at arrival only": ["surface.write.concurrent"],
  "attributes everything to agent": [
    "surface.feed.attribution",
    "surface.observed.attribution",
    "surface.write.feed",
    "surface.write.refusal-data",
  ],
  "hard-deletes without tombstone": ["surface.observed.rows", "surface.observed.tombstone"],
  "answers changes as an object": ["surface.feed.rows"],
  "repeats a marker after a change": ["surface.observed.marker", "surface.write.marker"],
  "keeps the last hand of a handle": ["surface.write.hands"],
  "keeps one marker": ["surface.observed.marker", "surface.observed.rows", "surface.write.marker"],
  "own write is stale": ["surface.write.marker", "surface.write.own"],
  "refuses with a code of its own": ["surface.write.code", "surface.write.refusal-data"],
  "refuses without data": ["surface.write.code", "surface.write.refusal-data"],
  "writes what it refuses": ["surface.write.refusal-writes-nothing"],
  "refuses reads": ["surface.read-not-refused"],
  "calm for unknown markers": ["surface.feed.unknown-marker"],
  "ignores since": ["surface.feed.since"],
  "never sure to be complete": ["surface.feed.complete"],
  "words of its own": ["surface.feed.vocabulary"],
  "a marker for each read": ["surface.marker.stable"],
  "agrees to any revision": ["surface.initialize.other-revision"],
  "answers twice": ["surface.answered-once"],
  "answers any method": ["surface.unknown-method"],
  "offers to accept": ["surface.tools.reserved"],
  "a name with blanks": ["surface.tools.names"],
  "a long description": ["surface.tools.readable"],
  "the same page again": ["surface.tools"],
  "progress that shrinks": ["surface.progress"],
  "speaks another revision": ["surface.initialize", "surface.initialize.again", "surface.initialize.other-revision"],
  "greets once": ["surface.initialize.again"],
  "ping with words": ["surface.ping"],
  "takes any tool": ["surface.malformed-call", "surface.unknown-tool"],
  "two tools of one name": ["surface.tools.unique"],
  "feed needs a marker": ["surface.feed.answers"],
  "a result without end": ["surface.result"],
  "deaf after notifications": ["surface.cancelled", "surface.presence", "surface.unknown-notification"],
  "lists no tools": ["surface.tools"],
  "malformed notifications": ["surface.notifications"],
};

function optionsFor(surface: SmallSurface): CheckSurfaceOptions {
  return {
    local: true,
    timeoutMs: 5_000,
    read: { name: "board_read", args: {} },
    observe: { timeoutMs: 2_000, act: (act) => surface.act(act) },
    probeWrite: { name: "board_move", args: { card: "budget", x: 1 } },
  };
}

test("a small surface without a fault is found sound, and nothing of it stays unseen but progress", async () => {
  await using surface = await startSmallSurface();
  const report = await checkSurface(surface.invitation, optionsFor(surface));
  expect(byStatus(report, "does_not_hold"), reportToTable(report)).toEqual([]);
  expect(byStatus(report, "unseen"), reportToTable(report)).toEqual(["surface.progress"]);
});

test.concurrent.each(Object.keys(found) as SurfaceFault[])(
  "a surface with the fault: %s, is found out, for that alone",
  async (fault) => {
    await using surface = await startSmallSurface(fault);
    // What is never answered is waited for: not longer than it takes.
    const timeoutMs = fault === "deaf after notifications" || fault === "lists no tools" ? 2_000 : 5_000;
    const report = await checkSurface(surface.invitation, { ...optionsFor(surface), timeoutMs });
    expect(byStatus(report, "does_not_hold"), reportToTable(report)).toEqual([...found[fault]].sort());
  },
);

describe("without being allowed more", () => {
  test("nothing is written, and no tool but the feed is called", async () => {
    await using surface = await startSmallSurface();
    const report = await checkSurface(surface.invitation, { local: true });
    expect(surface.written).toEqual([]);
    expect(byStatus(report, "does_not_hold")).toEqual([]);
    const unseen = byStatus(report, "unseen");
    expect(unseen).toContain("surface.write.stale");
    expect(unseen).toContain("surface.observed.attribution");
  });

  test("a surface that attributes everything to agent is found out by asking alone", async () => {
    await using surface = await startSmallSurface("attributes everything to agent");
    const report = await checkSurface(surface.invitation, { local: true });
    expect(byStatus(report, "does_not_hold")).toEqual(["surface.feed.attribution"]);
  });
});

test("the plan is told before anything is written, and counts every call", async () => {
  await using surface = await startSmallSurface();
  const plans: { calls: number; writtenBefore: number }[] = [];
  const { read, probeWrite } = optionsFor(surface);
  await checkSurface(surface.invitation, {
    local: true,
    read,
    probeWrite: probeWrite && {
      ...probeWrite,
      onPlan: ({ calls }) => plans.push({ calls, writtenBefore: surface.written.length }),
    },
  });
  expect(plans).toEqual([{ calls: 11, writtenBefore: 0 }]);
  // Three by themselves, one of each pair; the others were refused.
  expect(surface.written).toHaveLength(6);
});

function byStatus({ results }: Report, wanted: string): string[] {
  return results
    .filter(({ status }) => status === wanted)
    .map(({ id }) => id)
    .sort();
}
