import type { JsonObject } from "@human-plus/core/protocol";
import { methods, parseProposalOutcome, parseResultMeta } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { type Board, createBoard } from "./board.ts";
import { feedOf, joinLocally, refusalOf, revisionOf, textOf } from "./local-agent.ts";

async function propose(board: Board, options: { pinned: boolean } = { pinned: true }) {
  const agent = joinLocally(board.surface, "tidy");
  const revision = revisionOf(await agent.call("read"));
  const answer = await agent.call("suggest", { card: "a", title: "Better" }, options.pinned ? { revision } : {});
  const receipt = parseResultMeta(answer.result?.["_meta"])["human-plus/proposal"];
  const [pending] = board.surface.getSnapshot().proposals;
  if (pending === undefined || receipt === undefined) throw new Error(`nothing proposed: ${JSON.stringify(answer)}`);
  return {
    agent,
    answer,
    receipt,
    pending,
    outcome: async () => parseProposalOutcome(await agent.notified(methods.proposal)),
  };
}

describe("a staged tool", () => {
  test("writes nothing, and gives a receipt with an id that nobody can guess", async () => {
    const board = createBoard({ proposalTtlMs: 60_000 });
    const { receipt, pending, agent } = await propose(board);
    expect(receipt).toEqual({ id: pending.proposal.id, state: "proposed", expiresInMs: 60_000 });
    expect(receipt.id).toMatch(/^[\w-]{22}$/);
    expect(pending.proposal).toMatchObject({ tool: "suggest", participantId: "tidy", summary: "Rename a" });
    expect(board.cards.get("a")?.title).toBe("A");
    expect(feedOf(await agent.call("changes_since")).rows).toEqual([]);
  });

  test("is written when a person accepts, as the agent's change", async () => {
    const board = createBoard();
    const { pending, outcome, agent, receipt } = await propose(board);
    expect(pending.accept()).toBe("accepted");
    expect(board.cards.get("a")?.title).toBe("Better");
    expect(await outcome()).toEqual({ id: receipt.id, state: "accepted" });
    expect(feedOf(await agent.call("changes_since")).rows).toEqual(["a updated agent"]);
    expect(board.surface.getSnapshot().proposals).toEqual([]);
  });

  test("is written once, whatever is pressed afterwards", async () => {
    const board = createBoard();
    const { pending, agent } = await propose(board);
    expect([pending.accept(), pending.accept(), pending.reject("no")]).toEqual(["accepted", "accepted", "accepted"]);
    expect(feedOf(await agent.call("changes_since")).rows).toHaveLength(1);
    expect(agent.notifications.filter(({ method }) => method === methods.proposal)).toHaveLength(1);
  });

  test.each([{ pinned: true }, { pinned: false }])(
    "is stale when what it touches changed since ($pinned)",
    async (options) => {
      const board = createBoard();
      const { pending, outcome, receipt } = await propose(board, options);
      board.rename("a", "Mine");
      expect(pending.accept()).toBe("stale");
      expect(board.cards.get("a")?.title).toBe("Mine");
      expect(await outcome()).toEqual({ id: receipt.id, state: "stale" });
    },
  );

  test("can be rejected with a reason", async () => {
    const board = createBoard();
    const { pending, outcome, receipt } = await propose(board);
    expect(pending.reject("Keep it.")).toBe("rejected");
    expect(await outcome()).toEqual({ id: receipt.id, state: "rejected", reason: "Keep it." });
    expect(board.cards.get("a")?.title).toBe("A");
  });

  test("expires, and then cannot be accepted", async () => {
    const board = createBoard({ proposalTtlMs: 20 });
    const { pending, outcome, receipt } = await propose(board);
    expect(await outcome()).toEqual({ id: receipt.id, state: "expired" });
    expect(pending.accept()).toBe("expired");
    expect(board.cards.get("a")?.title).toBe("A");
  });

  test("are bounded: one more is not made, and its agent learns that", async () => {
    const board = createBoard({ maxProposals: 1 });
    const { agent, pending } = await propose(board);
    const suggest = () => agent.call("suggest", { card: "b", title: "Other" });
    const refused = await suggest();
    expect(refused.result).toMatchObject({ isError: true });
    expect(textOf(refused)).toMatch(/Nothing was proposed/);
    pending.reject();
    expect((await suggest()).result).toMatchObject({ isError: false });
  });

  test("expire by the thousand at once", async () => {
    let time = 0;
    const board = createBoard({ maxProposals: 5_000, proposalTtlMs: 1_000, now: () => time });
    const agent = joinLocally(board.surface);
    for (let index = 0; index < 5_000; index++) await agent.call("suggest", { card: `c${index}`, title: "T" });
    time = 1_000;
    board.rename("b", "Mine");
    expect(board.surface.getSnapshot().proposals).toEqual([]);
    expect(agent.notifications.filter(({ method }) => method === methods.proposal)).toHaveLength(5_000);
    expect(board.errors).toEqual([]);
  });

  test("is accepted once by whoever accepts all that waits whenever something changes", async () => {
    const board = createBoard();
    const agent = joinLocally(board.surface, "tidy");
    const states: unknown[] = [];
    board.surface.subscribe(() => {
      for (const { accept } of board.surface.getSnapshot().proposals) states.push(accept());
    });
    await agent.call("suggest", { card: "a", title: "Better" });
    expect(new Set(states)).toEqual(new Set(["accepted"]));
    expect(await agent.notified(methods.proposal)).toMatchObject({ state: "accepted" });
    expect(feedOf(await agent.call("changes_since")).rows).toEqual(["a updated agent"]);
  });

  test("waits on when it cannot be written, and can be decided again", async () => {
    const board = createBoard();
    const { pending } = await propose(board);
    const set = board.cards.set.bind(board.cards);
    board.cards.set = () => {
      throw new Error("full");
    };
    expect(() => pending.accept()).toThrow("full");
    expect(board.surface.getSnapshot().proposals).toEqual([pending]);
    board.cards.set = set;
    expect(pending.accept()).toBe("accepted");
  });

  test("cannot be accepted by a tool", async () => {
    const board = createBoard();
    const { agent } = await propose(board);
    board.surface.tool({ name: "sneak", handler: () => board.surface.getSnapshot().proposals[0]?.accept() });
    expect((await agent.call("sneak")).result?.["isError"]).toBe(true);
    expect(board.cards.get("a")?.title).toBe("A");
    expect(String(board.errors[0])).toContain("a tool cannot decide");
  });

  test("is given no way to commit", async () => {
    const board = createBoard();
    let given: object = {};
    board.surface.tool({
      name: "look",
      stage: true,
      handler: (_, call) => {
        given = call;
        return undefined;
      },
    });
    await joinLocally(board.surface).call("look");
    expect(Object.keys(given)).toContain("propose");
    expect(Object.keys(given)).not.toContain("commit");
    expect(Object.keys(given)).not.toContain("undo");
  });

  test("is refused at once when its pin is stale already", async () => {
    const board = createBoard();
    const agent = joinLocally(board.surface, "tidy");
    const revision = revisionOf(await agent.call("read"));
    board.rename("a", "Mine");
    const answer = await agent.call("suggest", { card: "a", title: "T" }, { revision });
    expect(refusalOf(answer)?.rows).toEqual(["a updated human"]);
    expect(board.surface.getSnapshot().proposals).toEqual([]);
  });
});

describe("undo", () => {
  test("takes back the latest change of one agent, and again the one before", async () => {
    const { surface, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" });
    await agent.call("rename", { card: "a", title: "2" });
    expect(surface.undo("tidy")).toMatchObject({ undone: true });
    expect(cards.get("a")?.title).toBe("1");
    expect(surface.undo("tidy")).toMatchObject({ undone: true });
    expect(cards.get("a")?.title).toBe("A");
    expect(surface.undo("tidy")).toMatchObject({ undone: false, reason: "nothing_to_undo" });
    expect(feedOf(await agent.call("changes_since")).rows).toEqual([
      "a updated agent",
      "a updated agent",
      "a updated human",
      "a updated human",
    ]);
  });

  test("is refused when somebody touched the same thing since, and says what", async () => {
    const { surface, cards, rename } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" });
    rename("b", "elsewhere");
    rename("a", "Mine");
    expect(surface.undo("tidy")).toMatchObject({ undone: false, reason: "changed_since", changes: [{ handle: "a" }] });
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test("does not see past a change between two that were taken back", async () => {
    const { surface, rename, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" });
    rename("a", "Mine");
    await agent.call("rename", { card: "a", title: "2" });
    expect(surface.undo("tidy").undone).toBe(true);
    expect(surface.undo("tidy")).toMatchObject({ undone: false, reason: "changed_since" });
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test("of a person leaves agents and other people alone", async () => {
    const { surface, rename, cards } = createBoard();
    rename("a", "Ann's", "ann");
    rename("b", "Ben's", "ben");
    await joinLocally(surface).call("rename", { card: "in", title: "Agent's" });
    expect(surface.undo("ann").undone).toBe(true);
    expect([...cards.values()].map(({ title }) => title)).toEqual(["A", "Ben's", "Agent's"]);
    expect(surface.undo()).toMatchObject({ reason: "nothing_to_undo" });
  });

  test("says so where a change came without a way back", () => {
    const { surface } = createBoard();
    surface.recordChange({ handle: "a", kind: "moved" });
    expect(surface.undo()).toMatchObject({ undone: false, reason: "cannot_be_undone" });
  });

  test("is there for an agent's own latest change, as its own", async () => {
    const { surface, cards } = createBoard();
    surface.tool({
      name: "undo",
      touches: [],
      handler: (_, call) => ({ structuredContent: { ...call.undo() } as JsonObject }),
    });
    const agent = joinLocally(surface, "tidy");
    const rival = joinLocally(surface, "rival");
    await agent.call("rename", { card: "a", title: "1" });
    expect((await rival.call("undo")).result?.["structuredContent"]).toMatchObject({ undone: false });
    expect((await agent.call("undo")).result?.["structuredContent"]).toMatchObject({ undone: true });
    expect(cards.get("a")?.title).toBe("A");
    expect(feedOf(await agent.call("changes_since")).rows).toEqual(["a updated agent", "a updated agent"]);
  });

  test("leaves what a person does on hearing of it unread, so that the agent's next write is refused there", async () => {
    const { surface, cards, rename } = createBoard();
    surface.tool({
      name: "undo",
      touches: [],
      handler: (_, call) => ({ structuredContent: { ...call.undo() } as JsonObject }),
    });
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" });
    const stop = surface.subscribe(() => {
      if (cards.get("a")?.title !== "A") return; // not undone yet
      stop();
      rename("a", "Mine");
    });
    const revision = revisionOf(await agent.call("undo"));
    expect(cards.get("a")?.title).toBe("Mine");
    const answer = await agent.call("rename", { card: "a", title: "2" }, { revision });
    expect(refusalOf(answer)?.rows).toEqual(["a updated human"]);
    expect(cards.get("a")?.title).toBe("Mine");
  });

  test("asked for by whoever hears of an undo takes back the change before, not the same again", async () => {
    const { surface, cards } = createBoard();
    const agent = joinLocally(surface, "tidy");
    await agent.call("rename", { card: "a", title: "1" });
    await agent.call("rename", { card: "a", title: "2" });
    const stop = surface.subscribe(() => {
      stop();
      expect(surface.undo("tidy").undone).toBe(true);
      expect(cards.get("a")?.title).toBe("A");
    });
    expect(surface.undo("tidy").undone).toBe(true);
    expect(surface.undo("tidy")).toMatchObject({ undone: false, reason: "nothing_to_undo" });
    expect(cards.get("a")?.title).toBe("A");
  });
});
