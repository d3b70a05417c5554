import { createHumanPlus, HumanPlusError, Invitation, MemoryAttachmentStore, TrustPolicy } from "@human-plus/core";
import { toShareLink } from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "./parts/live-canvas.ts";

describe("an agent on a live canvas", () => {
  test("reads, is pinned to what it read, and writes", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    expect((await agent.tools()).map(({ name }) => name).sort()).toEqual([
      "canvas_move",
      "canvas_read",
      "changes_since",
    ]);
    expect(await agent.conflictDetection()).toMatchObject({ state: "not_observed" });
    const read = await agent.call("canvas_read");
    expect(read.text).toMatch(/^<surface-data source="canvas\/board" tool="canvas_read" nonce="[0-9a-f]{16}">\n/);
    expect(read.structuredContent).toEqual({ cards: Object.fromEntries(canvas.cards) });
    expect(read.revision).toBeDefined();
    expect(await agent.conflictDetection()).toMatchObject({ state: "minted" });
    const moved = await agent.call("canvas_move", { card: "budget", x: 40, y: 40 });
    expect(moved).toMatchObject({ isError: false, notices: [] });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 40, y: 40 });
  });

  test("is refused when a person moved the card it writes to, learns what changed by whose hand, and goes on elsewhere", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    canvas.personMoves("budget", 7, 7);
    const refused = await agent
      .call("canvas_move", { card: "budget", x: 40, y: 40 })
      .catch((error: HumanPlusError) => error);
    expect(refused).toBeInstanceOf(HumanPlusError);
    expect(refused).toMatchObject({ code: "surface_changed_under_you", outcome: "not_applied", retryable: false });
    const { message, surface } = refused as HumanPlusError;
    expect(message).toMatch(/canvas_move was refused/);
    expect(message).toMatch(/observed by canvas_read/);
    expect(message).toMatch(/Nothing was written/);
    expect(message).toMatch(/Do not repeat this call/);
    expect(surface?.changes).toEqual([expect.objectContaining({ handle: "budget", kind: "moved", actor: "human" })]);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7, y: 7 });
    expect(await agent.conflictDetection()).toMatchObject({ state: "enforced" });
    expect(await agent.status()).toMatchObject({ state: "attached" });

    const report = await agent.changesSince();
    expect(report).toMatchObject({
      answered: true,
      complete: true,
      nothingChanged: false,
      handles: ["budget"],
      state: "attributed",
    });
    expect(report.deferTo).toEqual([expect.objectContaining({ handle: "budget", kind: "moved", actor: "human" })]);
    expect(report.describe()).toMatch(/"budget".*moved by a person/);

    await agent.call("canvas_move", { card: "travel", x: 200, y: 0 });
    expect(canvas.cards.get("travel")).toMatchObject({ x: 200 });
    const calm = await agent.changesSince();
    expect(calm.deferTo).toEqual([]);
  });

  test("is not refused for a change it does not touch", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    canvas.personMoves("travel", 7, 7);
    await agent.call("canvas_move", { card: "budget", x: 40, y: 40 });
    expect(canvas.cards.get("travel")).toMatchObject({ x: 7 });
  });

  test("sees another agent's edits as another party's", async () => {
    await using canvas = await startLiveCanvas();
    const [one, two] = [
      await canvas.join({ participant: { name: "One" } }),
      await canvas.join({ participant: { name: "Two" } }),
    ];
    await one.call("canvas_read");
    await two.call("canvas_move", { card: "budget", x: 1, y: 1 });
    expect((await one.changesSince()).changes).toEqual([expect.objectContaining({ handle: "budget", actor: "other" })]);
    expect((await two.changesSince()).deferTo).toEqual([]);
  });

  test("is seen by the people at the surface, and hears when they act", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join({ participant: { name: "Tidy", color: "#7c3aed" } });
    const release = await agent.watch();
    const seen = new Promise<void>((resolve) => {
      canvas.surface.subscribe(() => {
        if (canvas.surface.getSnapshot().participants.some(({ name }) => name === "Tidy")) resolve();
      });
    });
    await agent.announce({ action: "tidying up", target: "budget" });
    await seen;
    await agent.call("canvas_read");
    const acted = new Promise<void>((resolve) => agent.on("personActed", () => resolve()));
    canvas.personMoves("budget", 3, 3);
    await acted;
    release();
  });
});

describe("an attachment", () => {
  test("touches no network when it is made, and sends nothing before trust is declared", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join({ trust: TrustPolicy.undeclared });
    for (const attempt of [
      agent.tools(),
      agent.call("canvas_read"),
      agent.changesSince(),
      agent.watch(),
      agent.announce({ action: "x" }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: "trust_undeclared", outcome: "not_applied" });
    }
    expect(canvas.relay.broker.stats()).toMatchObject({ clients: 0 });
  });

  test("is found only by its owner, and looks to others as if it were not there", async () => {
    await using canvas = await startLiveCanvas();
    const client = canvas.createClient();
    const { id } = await client.attach({
      owner: "me",
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    await expect(client.status("you", id)).rejects.toMatchObject({ code: "attachment_not_found" });
    await expect(client.call("you", id, "canvas_read")).rejects.toMatchObject({ code: "attachment_not_found" });
    await expect(client.status("me", "other")).rejects.toMatchObject({ code: "attachment_not_found" });
    await expect(
      client.attach({ owner: "you", id, invitation: canvas.invitation, participant: { name: "x" } }),
    ).rejects.toMatchObject({ code: "attachment_not_found" });
  });

  test("keeps its pin for a second worker over the same store", async () => {
    await using canvas = await startLiveCanvas();
    const store = new MemoryAttachmentStore();
    const worker = () => createHumanPlus({ store, transport: createSseTransport({ egress: { unverified: true } }) });
    const [one, two] = [worker(), worker()];
    const { id } = await one.attach({
      owner: "me",
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    await one.call("me", id, "canvas_read");
    canvas.personMoves("budget", 9, 9);
    await expect(two.call("me", id, "canvas_move", { card: "budget", x: 1, y: 1 })).rejects.toMatchObject({
      code: "surface_changed_under_you",
    });
    await Promise.all([one.close(), two.close()]);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 9 });
  });

  test("runs its calls one after another, so that parallel calls of one turn do not refuse each other", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    await Promise.all([1, 2, 3, 4].map((x) => agent.call("canvas_move", { card: "budget", x, y: x })));
    expect(canvas.cards.get("budget")).toMatchObject({ x: 4, y: 4 });
  });

  test("begins anew when it is attached again under its id: the old generation's marker is gone", async () => {
    await using canvas = await startLiveCanvas();
    const client = canvas.createClient();
    const options = {
      owner: "me",
      id: "a",
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    };
    await (await client.attach(options)).call("canvas_read");
    const again = await client.attach(options);
    expect(await again.status()).toMatchObject({ generation: 2, conflictDetection: "not_observed" });
  });

  test("begins anew under an id whose attachment was forgotten: nothing goes where the old one led", async () => {
    await using old = await startLiveCanvas();
    await using canvas = await startLiveCanvas();
    let time = Date.now();
    const now = () => time;
    const store = new MemoryAttachmentStore({ now });
    const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }), store, now });
    const participant = { name: "Tidy" };
    const trust = TrustPolicy.everyTool();
    const first = { owner: "me", id: "board", invitation: old.invitation, participant, trust };
    await (await client.attach(first)).call("canvas_read");
    time += 86_400_001;
    const agent = await client.attach({ ...first, owner: "somebody else", invitation: canvas.invitation });
    await agent.call("canvas_move", { card: "budget", x: 40, y: 40 });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 40 });
    expect(old.cards.get("budget")).not.toMatchObject({ x: 40 });
    await client.close();
  });

  test.each(["another owner", "the same owner"])(
    "what waited for an attachment that was forgotten does not go to what %s attached under its id, even at the same moment",
    async (who) => {
      await using old = await startLiveCanvas();
      await using canvas = await startLiveCanvas();
      const now = () => 1;
      const store = new MemoryAttachmentStore({ now });
      const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }), store, now });
      const participant = { name: "Tidy" };
      const trust = TrustPolicy.everyTool();
      const first = { owner: "me", id: "board", invitation: old.invitation, participant, trust };
      const agent = await client.attach(first);
      const { promise: otherWorker, resolve: release } = Promise.withResolvers<void>();
      const lease = store.lock("board", () => otherWorker);
      const move = agent.call("canvas_move", { card: "budget", x: 40, y: 40 });
      await store.delete("board");
      const owner = who === "another owner" ? "somebody else" : "me";
      await client.attach({ ...first, owner, invitation: canvas.invitation });
      release();
      await lease;
      await expect(move).rejects.toMatchObject({ code: "attachment_conflict", outcome: "not_applied" });
      expect(canvas.cards.get("budget")).not.toMatchObject({ x: 40 });
      expect(old.cards.get("budget")).not.toMatchObject({ x: 40 });
      await client.session(owner, "board").call("canvas_move", { card: "budget", x: 50, y: 50 });
      expect(canvas.cards.get("budget")).toMatchObject({ x: 50 });
      await client.close();
    },
  );

  test("can be left, and then refuses; leaving twice and leaving a gone surface are successes", async () => {
    await using canvas = await startLiveCanvas();
    const [agent, other] = [await canvas.join(), await canvas.join()];
    await agent.call("canvas_read");
    await agent.detach();
    await agent.detach();
    await expect(agent.call("canvas_read")).rejects.toMatchObject({
      code: "attachment_detached",
      outcome: "not_applied",
    });
    await other.call("canvas_read"); // page and other agents are left alone
    await canvas.relay.close();
    await other.markUnavailable();
    await expect(other.call("canvas_read")).rejects.toMatchObject({
      code: "surface_unavailable",
      outcome: "not_applied",
    });
  });

  test.each([
    [
      "timeoutMs",
      (agent: Awaited<ReturnType<Awaited<ReturnType<typeof startLiveCanvas>>["join"]>>) =>
        agent.call("canvas_read", {}, { timeoutMs: 0 }),
    ],
    [
      "args",
      (agent: Awaited<ReturnType<Awaited<ReturnType<typeof startLiveCanvas>>["join"]>>) =>
        agent.call("canvas_read", [] as never),
    ],
    [
      "action",
      (agent: Awaited<ReturnType<Awaited<ReturnType<typeof startLiveCanvas>>["join"]>>) =>
        agent.announce({ action: "" }),
    ],
  ])("names a bad %s", async (name, operation) => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await expect(operation(agent)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(name),
    });
  });

  test("an abort before anything was sent says so", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await expect(agent.call("canvas_read", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
      outcome: "not_applied",
    });
  });
});

describe("a turn", () => {
  const handlesOf = (_: string, { card }: { card?: unknown }) => (card === undefined ? [] : [String(card)]);

  test("tells the model what people changed and what to leave alone, and nothing when nothing happened", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    expect(await agent.turn()).toMatchObject({ text: "", leaveAlone: [] });
    canvas.personMoves("budget", 5, 5);
    const turn = await agent.turn();
    expect(turn.leaveAlone).toEqual(["budget"]);
    expect(turn.text).toMatch(/"budget".*moved by a person[\s\S]*Leave alone/);
  });

  test("with protection refuses calls that name a person's card before anything is sent, until it ends", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    const turn = await agent.turn({ protect: true, handlesOf });
    const move = () => agent.call("canvas_move", { card: "budget", x: 1, y: 1 });
    await expect(move()).rejects.toMatchObject({
      code: "deferred_to_person",
      outcome: "not_applied",
      message: expect.stringContaining('"budget"'),
    });
    await agent.call("canvas_move", { card: "travel", x: 300, y: 0 });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 5 });
    turn.end();
    await move();
    expect(canvas.cards.get("budget")).toMatchObject({ x: 1 });
  });

  test("with protection refuses a call that waited while the turn began", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    const turn = agent.turn({ protect: true, handlesOf });
    const move = agent.call("canvas_move", { card: "budget", x: 1, y: 1 });
    await expect(move).rejects.toMatchObject({ code: "deferred_to_person", outcome: "not_applied" });
    expect((await turn).leaveAlone).toEqual(["budget"]);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 5 });
  });

  test("ends with the next one, whose end the first one's does not touch", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    const first = await agent.turn({ protect: true, handlesOf });
    canvas.personMoves("travel", 6, 6);
    using second = await agent.turn({ protect: true, handlesOf });
    first.end();
    expect(second.leaveAlone).toEqual(["travel"]);
    await expect(agent.call("canvas_move", { card: "travel", x: 1, y: 1 })).rejects.toMatchObject({
      code: "deferred_to_person",
    });
  });

  test("cannot protect without knowing what a call works on", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await expect(agent.turn({ protect: true })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("handlesOf"),
    });
  });

  test("says what is known of conflicts and feeds, and from where", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    expect((await agent.conflictDetection()).describe()).toMatch(/not known/);
    expect((await agent.changeFeed()).describe()).toMatch(/not known/);
    await agent.call("canvas_read");
    expect((await agent.conflictDetection()).describe()).toMatch(
      /mints revisions \(canvas_read, .*not refused a stale one/,
    );
    canvas.personMoves("budget", 5, 5);
    await agent.call("canvas_move", { card: "budget", x: 1, y: 1 }).catch(() => undefined);
    expect((await agent.conflictDetection()).describe()).toMatch(/refused.*\(canvas_move, /);
    await agent.changesSince();
    expect((await agent.changeFeed()).describe()).toMatch(/names whose hand/);
  });
});

describe("a proposal", () => {
  const canvasWithProposals = async () => {
    const canvas = await startLiveCanvas();
    canvas.surface.tool({
      name: "canvas_delete",
      stage: true,
      touches: ({ card }) => [String(card)],
      handler({ card }, call) {
        call.propose({ handle: String(card), kind: "deleted" }, () => void canvas.cards.delete(String(card)));
        return undefined;
      },
    });
    return canvas;
  };

  test.each([
    ["accepted", (canvas: LiveCanvas) => canvas.surface.getSnapshot().proposals[0]?.accept(), false],
    ["rejected", (canvas: LiveCanvas) => canvas.surface.getSnapshot().proposals[0]?.reject("keep it"), true],
    [
      "stale",
      (canvas: LiveCanvas) => {
        canvas.personMoves("budget", 5, 5);
        canvas.surface.getSnapshot().proposals[0]?.accept();
      },
      true,
    ],
  ])("writes nothing by itself; its agent learns that it was %s", async (state, decide, kept) => {
    await using canvas = await canvasWithProposals();
    const [agent, other] = [
      await canvas.join({ participant: { name: "One" } }),
      await canvas.join({ participant: { name: "Two" } }),
    ];
    await Promise.all([agent.watch(), other.watch()]);
    const others: unknown[] = [];
    other.on("proposalEnded", (event) => others.push(event));
    await agent.call("canvas_read");
    const { proposal, notices } = await agent.call("canvas_delete", { card: "budget" });
    expect(notices).toEqual([expect.stringMatching(/Nothing was written yet/)]);
    expect(canvas.cards.has("budget")).toBe(true);
    const ended = new Promise<unknown>((resolve) => agent.on("proposalEnded", resolve));
    decide(canvas);
    expect(await ended).toMatchObject({ proposalId: proposal?.id, state, tool: "canvas_delete" });
    expect(canvas.cards.has("budget")).toBe(kept);
    expect(others).toEqual([]);
  });
});

test("an agent that leaves is gone for the people at the surface; those who stay are not", async () => {
  await using canvas = await startLiveCanvas();
  const [one, two] = [
    await canvas.join({ participant: { name: "One" } }),
    await canvas.join({ participant: { name: "Two" } }),
  ];
  for (const agent of [one, two]) {
    await agent.watch();
    await agent.announce({ action: "here" });
  }
  const connected = (name: string) =>
    canvas.surface.getSnapshot().participants.find((participant) => participant.name === name)?.connected;
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => isTrue() && resolve();
      canvas.surface.subscribe(look);
      look();
    });
  await until(() => connected("One") === true && connected("Two") === true);
  await one.detach();
  await until(() => connected("One") === false);
  expect(connected("Two")).toBe(true);
});

test("a share link says which surface it leads to", async () => {
  await using canvas = await startLiveCanvas();
  const invitation = Invitation.fromLink(toShareLink(canvas.invitation));
  expect(invitation).toMatchObject({
    surfaceId: "board",
    application: "canvas",
    sessionId: canvas.invitation.sessionId,
  });
});
