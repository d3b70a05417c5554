import { describe, expect, test } from "vitest";
import { createBoard } from "./board.ts";
import { joinLocally, refusalOf, revisionOf, textOf } from "./local-agent.ts";

describe("a pinned call", () => {
  test("is refused if a person changed what it touches, and says what and by whose hand", async () => {
    const { surface, rename, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    const refused = await agent.call("rename", { card: "a", title: "Theirs" }, { revision });
    expect(refusalOf(refused)).toEqual({ rows: ["a updated human"], complete: true });
    expect(JSON.stringify(refused.error)).not.toContain(surface.revision());
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test("is not refused because something else changed", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    expect(textOf(await agent.call("rename", { card: "a", title: "Theirs" }, { revision }))).toBe("done");
  });

  test("that says nothing of what it touches is refused whatever changed", async () => {
    const { surface, rename, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    expect(refusalOf(await agent.call("clear", {}, { revision }))?.rows).toEqual(["b updated human"]);
    expect(cards.size).toBe(3);
  });

  test("that reads is never refused, and moves the marker on", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    const again = await agent.call("read", {}, { revision });
    expect(again.error).toBeUndefined();
    expect(
      refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision: revisionOf(again) })),
    ).toBeUndefined();
  });

  test("of another life of the surface is stale, whatever it touches", async () => {
    const earlier = joinLocally(createBoard().surface, "tidy");
    const revision = revisionOf(await earlier.call("read"));
    const agent = joinLocally(createBoard().surface, "tidy");
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))).toEqual({
      rows: [],
      complete: false,
    });
    expect((await agent.call("read", {}, { revision })).error).toBeUndefined();
  });

  test.each(["", "00", "-1", "+0", "zz", "0 ", "0.0", "0.1", "0x0", "A"])(
    "with its own marker spelled otherwise (%j) is stale",
    async (end) => {
      const { surface } = createBoard();
      const agent = joinLocally(surface, "tidy");
      const life = surface.revision().split(".")[0];
      const answer = await agent.call("rename", { card: "a", title: "T" }, { revision: `${life}.${end}` });
      expect(answer.error).toBeDefined();
    },
  );

  test("that the log no longer reaches back to is stale", async () => {
    const { surface, rename } = createBoard({ maxChanges: 3 });
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    for (let index = 0; index < 4; index++) rename("b", `B${index}`);
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))).toMatchObject({
      complete: false,
    });
  });
});

describe("an agent's own writes", () => {
  test("do not stand against what it does next", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    let revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    for (const title of ["1", "2", "3"]) {
      const answer = await agent.call("rename", { card: "a", title }, { revision });
      expect(textOf(answer)).toBe("done");
      revision = revisionOf(answer);
    }
  });

  test("do not move its marker over what a person changed meanwhile", async () => {
    const { surface, rename, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    const written = await agent.call("rename", { card: "a", title: "T" }, { revision });
    const next = await agent.call("rename", { card: "b", title: "T" }, { revision: revisionOf(written) });
    expect(refusalOf(next)?.rows).toEqual(["b updated human"]);
    expect(cards.get("b")?.title).toBe("Mine");
  });

  test("stand against its own parallel call on the same thing, and against none on another", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    const [first, second, other] = await Promise.all([
      agent.call("rename", { card: "a", title: "1" }, { revision }),
      agent.call("rename", { card: "a", title: "2" }, { revision }),
      agent.call("rename", { card: "b", title: "3" }, { revision }),
    ]);
    expect(textOf(first)).toBe("done");
    expect(refusalOf(second)?.rows).toEqual(["a updated agent"]);
    expect(textOf(other)).toBe("done");
    // The answer to the last came after that to the first: its marker covers both.
    expect(textOf(await agent.call("rename", { card: "a", title: "4" }, { revision: revisionOf(other) }))).toBe("done");
  });

  test("are covered by its marker without a participant too", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface);
    const revision = revisionOf(await agent.call("read"));
    rename("b", "Mine");
    const written = await agent.call("rename", { card: "a", title: "1" }, { revision });
    expect(textOf(await agent.call("rename", { card: "a", title: "2" }, { revision: revisionOf(written) }))).toBe(
      "done",
    );
  });

  test("that failed leave its marker where it was", async () => {
    const { surface, rename } = createBoard();
    surface.tool({ name: "fail", handler: () => ({ isError: true, content: "no such card" }) });
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("a", "Mine");
    const failed = await agent.call("fail", {}, { revision });
    expect(
      refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision: revisionOf(failed) })),
    ).toBeDefined();
  });

  test("keep a marker short however many there are", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    let revision = revisionOf(await agent.call("read"));
    for (let index = 0; index < 200; index++) {
      rename("b", `B${index}`);
      revision = revisionOf(await agent.call("rename", { card: "a", title: `${index}` }, { revision }));
    }
    expect(revision.length).toBeLessThanOrEqual(512);
  });

  test("on two hundred things are all covered", async () => {
    const { surface, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    let revision = revisionOf(await agent.call("read"));
    for (let index = 0; index < 200; index++) {
      rename("b", `B${index}`);
      revision = revisionOf(await agent.call("rename", { card: `card ${index}`, title: "T" }, { revision }));
    }
    expect(textOf(await agent.call("rename", { card: "card 0", title: "T" }, { revision }))).toBe("done");
  });
});

describe("containers", () => {
  test("that were moved stand against a call on what is in them", async () => {
    const { surface, moveFrame } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    moveFrame("frame");
    expect(refusalOf(await agent.call("rename", { card: "in", title: "T" }, { revision }))?.rows).toEqual([
      "frame moved human",
    ]);
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))).toBeUndefined();
  });

  test("that were only renamed do not", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    surface.recordChange({ handle: "frame", kind: "updated" });
    expect(refusalOf(await agent.call("rename", { card: "in", title: "T" }, { revision }))).toBeUndefined();
  });

  test("are not deleted over a change of what is in them", async () => {
    const { surface, rename, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    rename("in", "Mine");
    expect(refusalOf(await agent.call("delete_frame", {}, { revision }))?.rows).toEqual(["in updated human"]);
    expect(cards.get("in")?.title).toBe("Mine");
  });

  test("count where a thing was and where it is", async () => {
    const { surface, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    surface.commit({ handle: "in", kind: "moved" }, () => cards.set("in", { title: "In" }));
    expect(refusalOf(await agent.call("delete_frame", {}, { revision }))?.rows).toEqual(["in moved human"]);
  });

  test("a change may say what else it touches", async () => {
    const { surface } = createBoard();
    const agent = joinLocally(surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    surface.recordChange({ handle: "list", kind: "moved", alsoTouches: ["a"] });
    expect(refusalOf(await agent.call("rename", { card: "a", title: "T" }, { revision }))?.rows).toEqual([
      "list moved human",
    ]);
  });
});
