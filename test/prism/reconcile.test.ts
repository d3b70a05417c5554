import { type ReconcileSurfaceEffectOptions, reconcileSurfaceEffect } from "@human-plus/adapter-prism";
import { createHumanPlus, type JsonObject, TrustPolicy } from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "../parts/live-canvas.ts";
import { startScriptedSurface } from "../parts/scripted-surface.ts";
import { call, startPrismAgent, transports } from "./parts/prism-agent.ts";
import { createRecordingStore } from "./parts/recording-store.ts";

const handlesOf = (_: string, { card, cards }: JsonObject): string[] =>
  Array.isArray(cards) ? cards.map(String) : card === undefined ? [] : [String(card)];
const identity = { id: "me", active: true };
const budget = { card: "budget", x: 1, y: 1 };

/** A canvas with tools whose answers never come: one that has written by then, and one that has not. */
async function startSilentCanvas(): Promise<LiveCanvas> {
  const canvas = await startLiveCanvas();
  const forever = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const touches = (args: JsonObject) => handlesOf("", args);
  canvas.surface.tool({
    name: "write_in_silence",
    touches,
    async handler(args, { commit, signal }) {
      for (const handle of handlesOf("", args)) commit({ handle, kind: "moved" }, () => undefined);
      await forever(signal);
      return undefined;
    },
  });
  canvas.surface.tool({
    name: "hang",
    touches,
    async handler(_, { signal }) {
      await forever(signal);
      return undefined;
    },
  });
  return canvas;
}

describe.each(transports)("over %s", (_, createTransport) => {
  /** An agent whose call of a tool is lost, and what the host kept of it. */
  async function lose(canvas: LiveCanvas, tool: string, args: object, meanwhile = () => {}) {
    const effectStore = createRecordingStore();
    const agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [{ calls: [call("read", "canvas_read")] }, { calls: [call("lost", tool, args)] }],
      toolset: {
        timeoutMs: 1_000,
        effect: ({ tool: name }) =>
          name.startsWith("canvas") ? undefined : { kind: "external_mutation", idempotency: "required" },
      },
      config: { identity, effectStore },
    });
    const started = agent.session.subscribe();
    const running = agent.session.run("go");
    for await (const event of started) {
      if (event.type === "tool_execution_started" && event.call.id === "lost") break;
    }
    meanwhile();
    await running;
    const record = effectStore.records().at(-1);
    if (record?.status !== "unknown") throw new Error(`the effect is ${record?.status}`);
    const { humanPlus, attachmentId, toolset } = agent;
    const reconcile = (more: Partial<ReconcileSurfaceEffectOptions> = {}) =>
      reconcileSurfaceEffect({
        record,
        args: args as JsonObject,
        humanPlus,
        owner: "me",
        attachmentId,
        handlesOf,
        names: toolset.names,
        ...more,
      });
    return { agent, effectStore, record, reconcile };
  }

  test("a lost call whose change is in the feed was completed, and the record is resolved with a result for the model", async () => {
    await using canvas = await startSilentCanvas();
    const { agent, effectStore, record, reconcile } = await lose(canvas, "write_in_silence", budget);
    await using _ = agent;
    expect(agent.of("tool_execution_error")).toMatchObject([{ error: { code: "ERR_PRISM_TOOL_EFFECT_UNKNOWN" } }]);
    const outcome = await reconcile();
    expect(outcome).toMatchObject({ status: "completed", result: { toolCallId: "lost", name: record.toolName } });
    if (outcome.status !== "completed") return;
    const { version: expectedVersion, key } = record;
    const { status, result } = outcome;
    effectStore.resolveUnknown(key, { expectedVersion, status, result });
    expect(effectStore.get(key)).toMatchObject({
      status: "completed",
      result: { value: { text: expect.stringMatching(/carried out/) } },
    });
  });

  test("a lost call that a surface known to refuse stale pins would refuse by now has failed", async () => {
    await using canvas = await startSilentCanvas();
    const { agent, reconcile } = await lose(canvas, "hang", budget, () => canvas.personMoves("budget", 9, 9));
    await using _ = agent;
    expect(await reconcile()).toMatchObject({ status: "unknown", reason: expect.stringContaining("not known") });

    await using other = await startSilentCanvas();
    const enforced = await lose(other, "hang", budget, () => other.personMoves("budget", 9, 9));
    await using __ = enforced.agent;
    const { humanPlus, attachmentId } = enforced.agent;
    const refused = humanPlus.call("me", attachmentId, "canvas_move", budget);
    await expect(refused).rejects.toMatchObject({ code: "surface_changed_under_you" });
    expect(await enforced.reconcile()).toMatchObject({
      status: "failed",
      failure: { code: "surface_changed_under_you" },
    });
  });

  test("a lost call that left no trace is unknown: it may still be under way", async () => {
    await using canvas = await startSilentCanvas();
    const { agent, reconcile } = await lose(canvas, "hang", budget, () => canvas.personMoves("travel", 9, 9));
    await using _ = agent;
    expect(await reconcile()).toMatchObject({ status: "unknown", reason: expect.stringContaining("under way") });
  });

  test("reconciling takes no news from the next turn, and moves no pin", async () => {
    await using canvas = await startSilentCanvas();
    const { agent, reconcile } = await lose(canvas, "hang", budget, () => canvas.personMoves("budget", 9, 9));
    await using _ = agent;
    const { humanPlus, attachmentId } = agent;
    const { pin } = await humanPlus.status("me", attachmentId);
    await reconcile();
    await reconcile();
    expect((await humanPlus.status("me", attachmentId)).pin).toEqual(pin);
    expect((await humanPlus.turn("me", attachmentId)).leaveAlone).toEqual(["budget"]);
  });

  test("what cannot be told is unknown: the wrong marker, other calls, a part of it, nothing named, no tool", async () => {
    await using canvas = await startSilentCanvas();
    const { agent, reconcile } = await lose(canvas, "write_in_silence", budget);
    await using _ = agent;
    const { humanPlus, attachmentId } = agent;
    const args = { cards: ["budget", "travel"] };
    expect(await reconcile({ args })).toMatchObject({ status: "unknown", reason: expect.stringMatching(/a part/) });
    expect(await reconcile({ handlesOf: () => [] })).toMatchObject({
      status: "unknown",
      reason: expect.stringMatching(/no handle/),
    });
    expect(await reconcile({ names: new Map() })).toMatchObject({
      status: "unknown",
      reason: expect.stringMatching(/no tool/),
    });
    const others = [{ tool: "canvas_move", args: budget }];
    expect(await reconcile({ others })).toMatchObject({
      status: "unknown",
      reason: expect.stringMatching(/another call/),
    });
    const elsewhere = [{ tool: "canvas_move", args: { card: "travel" } }];
    expect(await reconcile({ others: elsewhere })).toMatchObject({ status: "completed" });

    const { pin } = await humanPlus.status("me", attachmentId);
    await humanPlus.call("me", attachmentId, "canvas_read");
    expect(await reconcile()).toMatchObject({ status: "unknown", reason: expect.stringMatching(/no marker/) });
    expect(await reconcile({ since: pin?.marker ?? "" })).toMatchObject({ status: "completed" });
  });
});

describe("an effect", () => {
  const record = { toolCallId: "c1", toolName: "canvas_move", status: "unknown", createdAt: 0 } as const;

  async function attach(canvas: LiveCanvas) {
    const humanPlus = canvas.createClient();
    const { invitation } = canvas;
    const participant = { name: "Tidy" };
    const session = await humanPlus.attach({ owner: "me", invitation, participant, trust: TrustPolicy.everyTool() });
    const reconcile = (more: Partial<ReconcileSurfaceEffectOptions> = {}) =>
      reconcileSurfaceEffect({
        record: { ...record, createdAt: Date.now() },
        args: budget,
        humanPlus,
        owner: "me",
        attachmentId: session.id,
        handlesOf,
        ...more,
      });
    return { session, reconcile };
  }

  test("of a call that was refused as stale has failed, whichever way the host keeps time", async () => {
    await using canvas = await startLiveCanvas();
    const { session, reconcile } = await attach(canvas);
    await session.call("canvas_read");
    canvas.personMoves("budget", 9, 9);
    const createdAt = Date.now();
    await expect(session.call("canvas_move", budget)).rejects.toMatchObject({ code: "surface_changed_under_you" });
    for (const time of [createdAt, new Date(createdAt).toISOString()])
      expect(await reconcile({ record: { ...record, createdAt: time } })).toMatchObject({ status: "failed" });
    expect(await reconcile({ record: { ...record, createdAt: "yesterday" } })).toMatchObject({ status: "unknown" });
  });

  test("is not completed by an earlier change of the same agent, not even one that the next turn would tell", async () => {
    await using canvas = await startSilentCanvas();
    const { session, reconcile } = await attach(canvas);
    await session.call("canvas_read");
    canvas.personMoves("budget", 9, 9);
    await expect(session.call("canvas_move", budget)).rejects.toMatchObject({ code: "surface_changed_under_you" });
    await session.call("canvas_read");
    await session.call("canvas_move", budget);
    const createdAt = Date.now();
    await expect(session.call("hang", budget, { timeoutMs: 1_000 })).rejects.toMatchObject({ outcome: "unknown" });
    expect(await reconcile({ record: { ...record, createdAt } })).toMatchObject({ status: "unknown" });
    expect((await session.changesSince()).changes.map(({ actor }) => actor)).toContain("agent");
  });

  test("that is not unknown is none to reconcile", async () => {
    await using canvas = await startLiveCanvas();
    const { reconcile } = await attach(canvas);
    await expect(reconcile({ record: { ...record, status: "completed" } })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("record.status"),
    });
  });

  test("stays unknown when the surface is gone, and what the caller did is thrown", async () => {
    await using canvas = await startLiveCanvas();
    const { session, reconcile } = await attach(canvas);
    const { revision: since } = await session.call("canvas_read");
    await expect(reconcile({ since, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    await expect(reconcile({ since, owner: "you" })).rejects.toMatchObject({ code: "attachment_not_found" });
    await session.markUnavailable();
    expect(await reconcile({ since })).toMatchObject({
      status: "unknown",
      reason: expect.stringMatching(/surface_unavailable/),
    });
  });

  test.each([
    ["without attribution", { changes: [{ handle: "budget", change: "moved" }] }, /whose hand/],
    ["of another vocabulary", { changes: [{ handle: "budget", change: "moved", by: "bot-7" }] }, /whose hand/],
    [
      "that is partial",
      { changes: [{ handle: "budget", change: "moved", by: "agent" }], complete: false },
      /does not know/,
    ],
    [
      "with rows that cannot be read",
      { changes: [{ handle: "budget", by: "agent" }, { by: "agent" }] },
      /does not know/,
    ],
    ["that is none", undefined, /offers no change feed/],
  ])("stays unknown with a feed %s", async (_, feed, reason) => {
    await using surface = await startScriptedSurface(({ method }) => {
      if (method === "tools/list")
        return { result: { tools: [{ name: "canvas_move" }, ...(feed ? [{ name: "changes_since" }] : [])] } };
      return method === "tools/call" && feed ? { result: { structuredContent: feed, ...feed } } : undefined;
    });
    const humanPlus = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });
    const { invitation } = surface;
    const { id: attachmentId } = await humanPlus.attach({
      owner: "me",
      invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    const asked = { record, args: budget, humanPlus, owner: "me", attachmentId, handlesOf, since: "r1" };
    expect(await reconcileSurfaceEffect(asked)).toMatchObject({
      status: "unknown",
      reason: expect.stringMatching(reason),
    });
    await humanPlus.close();
  });
});
