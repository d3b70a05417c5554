import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBoard } from "./board.ts";
import { feedOf, joinLocally, revisionOf } from "./local-agent.ts";

describe("the change feed", () => {
  test("names hands relative to whoever asks, and the participant to nobody", async () => {
    const { surface, rename } = createBoard();
    const tidy = joinLocally(surface, "tidy-7f3a");
    const other = joinLocally(surface, "other");
    const nameless = joinLocally(surface);
    rename("a", "Mine");
    surface.recordChange({ handle: "x", kind: "created" }, { by: { type: "system" } });
    await tidy.call("rename", { card: "b", title: "T" });
    await nameless.call("rename", { card: "a", title: "N" });
    const rows = (hand: string, nameless: string) => [
      "a updated human",
      "x created other",
      `b updated ${hand}`,
      `a updated ${nameless}`,
    ];
    const asked = await other.call("changes_since");
    expect(feedOf(await tidy.call("changes_since")).rows).toEqual(rows("agent", "other"));
    expect(feedOf(asked).rows).toEqual(rows("other", "other"));
    expect(feedOf(await nameless.call("changes_since")).rows).toEqual(rows("other", "other"));
    expect(JSON.stringify(asked)).not.toContain("tidy-7f3a");
  });

  test("begins after the marker, and its own marker begins after its rows", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    rename("a", "1");
    const since = revisionOf(await agent.call("read"));
    rename("b", "2");
    const answer = await agent.call("changes_since", { since });
    expect(feedOf(answer)).toEqual({ rows: ["b updated human"], complete: true, reason: undefined });
    const quiet = await agent.call("changes_since", { since: revisionOf(answer) });
    expect(feedOf(quiet)).toEqual({ rows: [], complete: true, reason: undefined });
  });

  test("leaves out the write that the marker answers, and nothing else", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    const written = await agent.call("rename", { card: "a", title: "T" }, { revision });
    expect(feedOf(await agent.call("changes_since", { since: revisionOf(written) })).rows).toEqual(["b updated human"]);
    expect(feedOf(await agent.call("changes_since", { since: revision })).rows).toEqual([
      "b updated human",
      "a updated agent",
    ]);
  });

  test("keeps rows for what was deleted", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const since = surface.revision();
    surface.recordChange({ handle: "a", kind: "deleted", label: "Budget" });
    expect((await agent.call("changes_since", { since })).result?.["_meta"]).toMatchObject({
      changes: [{ handle: "a", kind: "deleted", actor: "human", label: "Budget" }],
    });
  });

  test("is partial for a marker of another life, with what this life knows", async () => {
    const { surface, rename } = createBoard();
    rename("a", "1");
    const answer = await joinLocally(surface).call("changes_since", { since: createBoard().surface.revision() });
    expect(feedOf(answer)).toMatchObject({ rows: ["a updated human"], complete: false });
    expect(feedOf(answer).reason).toContain("earlier life");
  });

  test("refuses a marker that is none", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface);
    for (const since of [7, "", null, "x".repeat(513)])
      expect((await agent.call("changes_since", { since })).error).toMatchObject({ code: -32602 });
  });

  test("comes in parts when it is long, and loses nothing", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface);
    for (let index = 0; index < 3_000; index++) surface.recordChange({ handle: `card ${index}`, kind: "moved" });
    const rows: string[] = [];
    let since: string | undefined;
    for (let parts = 0; parts < 100; parts++) {
      const answer = await agent.call("changes_since", since === undefined ? {} : { since });
      const part = feedOf(answer);
      rows.push(...part.rows);
      since = revisionOf(answer);
      if (part.complete) break;
      expect(part.reason).toContain("There is more");
    }
    expect(rows).toHaveLength(3_000);
    expect(new Set(rows).size).toBe(3_000);
  });

  test("says so when one commit is more than an answer holds", async () => {
    const { surface } = createBoard();
    const label = "x".repeat(256);
    surface.recordChange(
      Array.from({ length: 1_000 }, (_, index) => ({ handle: `card ${index}`, kind: "moved", label })),
    );
    const answer = feedOf(await joinLocally(surface).call("changes_since"));
    expect(answer.complete).toBe(false);
    expect(answer.rows.length).toBeGreaterThan(50);
  });

  test("may tell repeated changes of one hand once", async () => {
    const { surface, rename } = createBoard({ coalesceChanges: true });
    const agent = joinLocally(surface, "tidy");
    for (let index = 0; index < 5; index++) rename("a", `${index}`);
    await agent.call("rename", { card: "a", title: "T" });
    rename("a", "Mine");
    expect(feedOf(await agent.call("changes_since")).rows).toEqual(["a updated agent", "a updated human"]);
  });
});

type Step = {
  hand: "human" | "agent" | "rival" | "system";
  handle: number;
  kind: "created" | "updated" | "deleted" | "moved";
};

const steps = fc.array(
  fc.record<Step>({
    hand: fc.constantFrom("human", "agent", "rival", "system"),
    handle: fc.nat(5),
    kind: fc.constantFrom("created", "updated", "deleted", "moved"),
  }),
  { maxLength: 40 },
);

describe("the feed against a plain list", () => {
  test("tells every change since a marker once and in order, or that it cannot", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(40), fc.integer({ min: 1, max: 45 }), async (made, at, maxChanges) => {
        const { surface } = createBoard({ maxChanges });
        const agent = joinLocally(surface, "agent");
        const list: string[] = [];
        const marked = Math.min(at, made.length);
        let since = surface.revision();
        for (const [index, { hand, handle, kind }] of made.entries()) {
          if (index === marked) since = surface.revision();
          const by = hand === "human" || hand === "system" ? { type: hand } : { type: "agent" as const, id: hand };
          surface.recordChange({ handle: `h${handle}`, kind }, { by });
          list.push(`h${handle} ${kind} ${hand === "human" || hand === "agent" ? hand : "other"}`);
        }
        if (marked === made.length) since = surface.revision();
        const expected = list.slice(marked);
        const { rows, complete } = feedOf(await agent.call("changes_since", { since }));
        expect(complete).toBe(expected.length <= maxChanges);
        expect(rows).toEqual(expected.slice(-maxChanges));
        if (complete && rows.length === 0) expect(expected).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("merged, still tells every hand and every kind of change of a handle, once each and at the place of the last", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (made) => {
        const { surface } = createBoard({ coalesceChanges: true });
        const agent = joinLocally(surface, "agent");
        const list = new Set<string>();
        for (const { hand, handle, kind } of made) {
          const by = hand === "human" || hand === "system" ? { type: hand } : { type: "agent" as const, id: hand };
          surface.recordChange({ handle: `h${handle}`, kind }, { by });
          const row = `h${handle} ${kind} ${hand === "human" || hand === "agent" ? hand : "other"}`;
          list.delete(row);
          list.add(row);
        }
        const { rows, complete } = feedOf(await agent.call("changes_since"));
        expect({ rows, complete }).toEqual({ rows: [...list], complete: true });
      }),
      { numRuns: 500 },
    );
  });

  test("refuses a pinned write exactly if the plain list has a change of its handle, or no longer knows", async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.nat(40),
        fc.nat(5),
        fc.integer({ min: 1, max: 45 }),
        async (made, at, touched, maxChanges) => {
          const { surface } = createBoard({ maxChanges });
          const agent = joinLocally(surface, "agent");
          const marked = Math.min(at, made.length);
          let revision = surface.revision();
          for (const [index, { handle, kind }] of made.entries()) {
            surface.recordChange({ handle: `h${handle}`, kind });
            if (index + 1 === marked) revision = surface.revision();
          }
          const later = made.slice(marked);
          const stale = later.length > maxChanges || later.some(({ handle }) => handle === touched);
          const answer = await agent.call("rename", { card: `h${touched}`, title: "T" }, { revision });
          expect(answer.error !== undefined).toBe(stale);
        },
      ),
      { numRuns: 500 },
    );
  });
});
