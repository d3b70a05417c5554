import type { ToolEffectDeclaration } from "@human-plus/adapter-prism";
import { type HumanPlusError, TrustPolicy } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { type Answering, startScriptedSurface } from "../parts/scripted-surface.ts";
import { attachToolset } from "./parts/attached-toolset.ts";
import { offerProposing } from "./parts/proposing-tool.ts";
import { settleFrames } from "./parts/settle-frames.ts";
import { createTroubledStore } from "./parts/troubled-store.ts";

const text = (words: string, more: object = {}) => ({ result: { content: [{ type: "text", text: words }], ...more } });
const onCall =
  (answer: Answering): Answering =>
  (request, surface) =>
    request.method === "tools/call" ? answer(request, surface) : undefined;
const tokenOf = (frame: { params?: object | undefined } | undefined) =>
  (frame?.params as { _meta: { progressToken?: string } } | undefined)?._meta.progressToken;
const failure = (promise: Promise<unknown>): Promise<HumanPlusError> =>
  promise.then(
    (value) => Promise.reject(new Error(`did not fail: ${JSON.stringify(value)}`)),
    (error: HumanPlusError) => error,
  );
const recorded: ToolEffectDeclaration = { kind: "external_mutation", idempotency: "required" };
const key = { idempotencyKey: `prism:tool-effect:v1:${"0".repeat(64)}` };

describe("a result", () => {
  test("carries the host's ids, what the model reads, and what the program should know", async () => {
    await using canvas = await startLiveCanvas();
    const { execute } = await attachToolset(canvas);
    const result = await execute("canvas_read", {}, { toolCallId: "call-7" });
    expect(Object.keys(result).sort()).toEqual(["metadata", "name", "toolCallId", "value"]);
    expect(result).toMatchObject({ toolCallId: "call-7", name: "surface_board_canvas_read" });
    const { text } = result.value as { text: string };
    expect(text).toMatch(/^<surface-data source="canvas\/board" tool="canvas_read" nonce="\w{16}">\n[\s\S]*"Budget"/);
    expect(result.metadata).toEqual({
      humanplus: { surfaceId: "board", tool: "canvas_read", outcome: "applied", revision: expect.any(String) },
    });
  });

  test("shows its text in content too, for hosts that want it", async () => {
    await using canvas = await startLiveCanvas();
    const { execute } = await attachToolset(canvas, { content: true });
    const { content, value } = await execute("canvas_read");
    expect(content).toEqual([{ type: "text", text: (value as { text: string }).text }]);
  });

  test("says what of it is not shown", async () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    await using surface = await startScriptedSurface(onCall(() => ({ result: { content: [image, image] } })));
    const { execute } = await attachToolset(surface);
    expect((await execute("read")).value).toMatchObject({
      notices: expect.arrayContaining(["2 part(s) of this result are no text and were left out."]),
    });
  });

  test("of a staged write comes at once, and says that a person decides", async () => {
    await using canvas = await startLiveCanvas();
    offerProposing(canvas);
    const { execute } = await attachToolset(canvas);
    const { value, metadata } = await execute("canvas_propose");
    expect(value).toMatchObject({ status: "proposed, waiting for a person" });
    expect(metadata?.["humanplus"]).toMatchObject({ proposal: { id: expect.any(String), state: "proposed" } });
    expect(canvas.surface.getSnapshot().proposals).toHaveLength(1);
  });

  test("that is larger as JSON than the host keeps is refused, not cut, and is known to be carried out", async () => {
    await using surface = await startScriptedSurface(onCall(() => text("\n".repeat(40_000))));
    const { execute } = await attachToolset(surface);
    const refused = await failure(execute("read"));
    expect(refused).toMatchObject({ code: "result_refused", outcome: "applied" });
    expect(refused.message).toMatch(/ask the surface for less[\s\S]*Outcome: applied.*do not repeat it/);
  });
});

describe("a call that failed", () => {
  test("because a person moved the card is thrown, so that the host shows it as failed, and tells the model what not to do", async () => {
    await using canvas = await startLiveCanvas();
    const { execute } = await attachToolset(canvas);
    await execute("canvas_read");
    canvas.personMoves("budget", 7, 7);
    const refused = await failure(execute("canvas_move", { card: "budget", x: 1, y: 1 }));
    expect(refused).toMatchObject({
      name: "HumanPlusError",
      code: "surface_changed_under_you",
      outcome: "not_applied",
    });
    expect(refused.message).toMatch(/"budget": moved by a person/);
    expect(refused.message).toMatch(/Do not repeat this call[\s\S]*Outcome: not_applied/);
    expect(refused).not.toHaveProperty("cause");
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
  });

  test("because the turn leaves a card to a person, or the tool is not admitted, says so in the same way", async () => {
    await using canvas = await startLiveCanvas();
    const { execute, humanPlus, attachmentId } = await attachToolset(canvas);
    await execute("canvas_read");
    canvas.personMoves("budget", 7, 7);
    const handlesOf = (_: string, { card }: { card?: unknown }) => (card === undefined ? [] : [String(card)]);
    const turn = await humanPlus.turn("me", attachmentId, { protect: true, handlesOf });
    const deferred = await failure(execute("canvas_move", { card: "budget", x: 1, y: 1 }));
    expect(deferred).toMatchObject({ code: "deferred_to_person", outcome: "not_applied" });
    expect(deferred.message).toMatch(/"budget"[\s\S]*Leave it alone/);
    turn.end();
    await humanPlus.attach({
      owner: "me",
      id: attachmentId,
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.allowing(["canvas_read"]),
    });
    const refused = await failure(execute("canvas_move", { card: "budget", x: 1, y: 1 }));
    expect(refused).toMatchObject({ code: "tool_refused", outcome: "not_applied" });
  });

  test("leaves a managed effect known where it is known: what was refused is a result, and says that it failed", async () => {
    await using canvas = await startLiveCanvas();
    const { execute } = await attachToolset(canvas, { effect: () => recorded });
    await execute("canvas_read", {}, key);
    canvas.personMoves("budget", 7, 7);
    const result = await execute("canvas_move", { card: "budget", x: 1, y: 1 }, { toolCallId: "call-2", ...key });
    expect(result).toMatchObject({
      toolCallId: "call-2",
      name: "surface_board_canvas_move",
      value: {
        failed: {
          code: "surface_changed_under_you",
          outcome: "not_applied",
          message: expect.stringMatching(/"budget": moved by a person[\s\S]*Outcome: not_applied/),
        },
      },
      metadata: { humanplus: { tool: "canvas_move", code: "surface_changed_under_you", outcome: "not_applied" } },
    });
    expect(result).not.toHaveProperty("error");
  });

  test("leaves a managed effect unknown where nobody knows: what was lost is thrown", async () => {
    await using surface = await startScriptedSurface(
      onCall(({ id }) => ({ frames: [{ jsonrpc: "2.0", id, error: { code: -32603, message: "broke" } }] })),
    );
    const { execute } = await attachToolset(surface, { effect: () => recorded });
    const lost = await failure(execute("write", {}, key));
    expect(lost).toMatchObject({ code: "surface_error", outcome: "unknown" });
    expect(lost.message).toMatch(/Outcome: unknown.*do not repeat it; read the surface/);
  });

  test("by the tool's own account shows the model what the tool says, framed, in no more than 8 KiB", async () => {
    await using surface = await startScriptedSurface(
      onCall(() => text(`no such card ${"ä".repeat(20_000)}`, { isError: true })),
    );
    const { execute } = await attachToolset(surface);
    const failed = await failure(execute("write"));
    expect(failed).toMatchObject({ code: "surface_error", outcome: "unknown" });
    expect(failed.message).toMatch(
      /^the surface says that write failed[\s\S]*\nno such card ä+ \[shortened\]\n<\/surface-data nonce="\w{16}">\nOutcome: unknown/,
    );
    expect(new TextEncoder().encode(failed.message).length).toBeLessThanOrEqual(8192);
  });

  test("inside the agent's own program says nothing of what broke there", async () => {
    await using canvas = await startLiveCanvas();
    const store = createTroubledStore();
    const { execute } = await attachToolset(canvas, { store });
    store.trouble(() => Promise.reject(new Error("secret-token-0123456789")));
    const failed = await failure(execute("canvas_read"));
    expect(failed).toMatchObject({ code: "relay_failed", outcome: "unknown" });
    expect(JSON.stringify([failed, failed.message, failed.stack])).not.toContain("secret-token");
  });
});

describe("a call under way", () => {
  test("ends with an abort although no answer ever comes, is cancelled on the wire, and tells of no progress afterwards", async () => {
    await using surface = await startScriptedSurface(onCall(() => undefined));
    const { execute, humanPlus, attachmentId } = await attachToolset(surface);
    await humanPlus.watch("me", attachmentId);
    const run = new AbortController();
    const steps: unknown[] = [];
    const call = failure(execute("write", {}, { signal: run.signal, progress: (step) => void steps.push(step) }));
    await surface.arrival("tools/call");
    const progressToken = tokenOf(surface.frames.at(-1));
    const progress = (n: number) =>
      surface.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: n } });
    await progress(1);
    await expect.poll(() => steps).toEqual([{ progress: 1 }]);
    run.abort();
    expect(await call).toMatchObject({ code: "aborted", outcome: "unknown" });
    await surface.arrival("notifications/cancelled");
    await progress(2);
    await settleFrames(surface, humanPlus);
    expect(steps).toEqual([{ progress: 1 }]);
  });

  test("ends with an abort even where a part of the program never ends", async () => {
    await using canvas = await startLiveCanvas();
    const store = createTroubledStore();
    const { execute } = await attachToolset(canvas, { store });
    const { promise: hanging, resolve: hangs } = Promise.withResolvers<void>();
    store.trouble(() => {
      hangs();
      return new Promise(() => undefined);
    });
    const run = new AbortController();
    const call = failure(execute("canvas_read", {}, { signal: run.signal }));
    await hanging;
    run.abort();
    expect(await call).toMatchObject({ code: "aborted", outcome: "unknown" });
  });

  test("is not made at all under a signal that has aborted", async () => {
    await using surface = await startScriptedSurface(onCall(() => text("ok")));
    const { execute } = await attachToolset(surface);
    const aborted = await failure(execute("write", {}, { signal: AbortSignal.abort() }));
    expect(aborted).toMatchObject({ code: "aborted", outcome: "not_applied" });
    expect(surface.frames.filter(({ method }) => method === "tools/call")).toEqual([]);
  });

  test("of a surface that hangs ends at the timeout, and nobody knows what became of it", async () => {
    await using surface = await startScriptedSurface(onCall(() => undefined));
    const { execute } = await attachToolset(surface, { timeoutMs: 1_000 });
    expect(await failure(execute("write"))).toMatchObject({ code: "relay_timeout", outcome: "unknown" });
    await surface.arrival("notifications/cancelled");
  });

  const steps = (count: number): Answering =>
    onCall(({ id, params }) => {
      const progressToken = tokenOf({ params });
      const step = (progress: number) => ({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress, total: count, message: `step ${progress} ${"ä".repeat(3000)}` },
      });
      const frames = Array.from({ length: count }, (_, n) => step(n + 1));
      return { frames: [...frames, { jsonrpc: "2.0", id, ...text("done") }] };
    });

  test("hands on its progress in order, one after another, small and framed, and none once it has settled", async () => {
    await using surface = await startScriptedSurface(steps(3));
    const { execute } = await attachToolset(surface);
    const seen: Array<{ progress: number; message: string }> = [];
    let atOnce = 0;
    let hasSettled = false;
    const progress = async (step: unknown) => {
      expect(hasSettled).toBe(false);
      expect(++atOnce).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce--;
      seen.push(step as (typeof seen)[number]);
    };
    expect(await execute("write", {}, { progress })).toMatchObject({
      value: { text: expect.stringContaining("done") },
    });
    hasSettled = true;
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3]);
    for (const step of seen) {
      expect(Object.keys(step)).toEqual(["progress", "total", "message"]);
      expect(step.message).toMatch(/^<surface-data [^\n]*\n[\s\S]*\n<\/surface-data nonce="\w{16}">$/);
      expect(new TextEncoder().encode(JSON.stringify(step)).length).toBeLessThan(8192);
    }
  });

  test.each<[string, (() => void | Promise<void>) | undefined]>([
    ["no progress", undefined],
    [
      "progress that throws",
      () => {
        throw new Error("no");
      },
    ],
    ["progress that rejects", () => Promise.reject(new Error("no"))],
    ["progress that never ends", () => new Promise(() => undefined)],
  ])("is not hurt by a host with %s", async (_, progress) => {
    await using surface = await startScriptedSurface(steps(40));
    const { execute } = await attachToolset(surface);
    const result = await execute("write", {}, progress === undefined ? {} : { progress });
    expect(result).toMatchObject({ value: { text: expect.stringContaining("done") } });
  });
});

describe("a set of tools", () => {
  /** Two tools, of which one is described as a test says at that moment. */
  const offering =
    (description: () => string): Answering =>
    ({ method }) => {
      if (method === "tools/call") return text("ok");
      return method === "tools/list"
        ? { result: { tools: [{ name: "read", description: description() }, { name: "write" }] } }
        : undefined;
    };

  test("that was closed ends what runs, and answers with a clear error", async () => {
    await using surface = await startScriptedSurface(onCall(() => undefined));
    const { execute, toolset } = await attachToolset(surface, { changes: true });
    const running = failure(execute("write"));
    await surface.arrival("tools/call");
    await toolset.close();
    await toolset.close();
    expect(await running).toMatchObject({ code: "closed", outcome: "unknown" });
    for (const tool of ["write", "surface_board_changes"]) {
      const closed = await failure(execute(tool));
      expect(closed).toMatchObject({
        code: "closed",
        outcome: "not_applied",
        message: expect.stringMatching(/was closed/),
      });
    }
    await expect(toolset.refresh()).rejects.toMatchObject({ code: "closed" });
  });

  test("is stale once the surface says so, and follows it when it is refreshed, between two runs", async () => {
    await using canvas = await startLiveCanvas();
    const { toolset, execute, humanPlus, attachmentId } = await attachToolset(canvas);
    const registry = toolset.registry();
    const names = () => registry.list().map(({ name }) => name.replace("surface_board_", ""));
    expect(names()).toEqual(["canvas_move", "canvas_read", "changes_since"]);
    await humanPlus.watch("me", attachmentId);
    const changed = new Promise<void>((resolve) => humanPlus.on("catalogueChanged", () => resolve()));
    canvas.surface.tool({ name: "canvas_count", touches: "none", handler: () => "2" });
    await changed;
    expect(toolset.stale).toBe(true);
    await execute("canvas_read");
    expect(toolset.tools).toHaveLength(3);
    await toolset.refresh();
    expect(toolset.stale).toBe(false);
    expect(registry.get("surface_board_canvas_count")).toBeUndefined();
    expect(names()).toEqual(["canvas_count", "canvas_move", "canvas_read", "changes_since"]);
  });

  test("does not call a tool that is defined otherwise than the model was shown, until it is refreshed", async () => {
    let description = "Reads.";
    await using surface = await startScriptedSurface(offering(() => description));
    const { toolset, execute, humanPlus, attachmentId } = await attachToolset(surface);
    await humanPlus.watch("me", attachmentId);
    description = "Reads, and pays.";
    await settleFrames(surface, humanPlus);
    expect(await failure(execute("read"))).toMatchObject({ code: "tool_definition_changed", outcome: "not_applied" });
    expect(toolset.disabled).toBeUndefined();
    await execute("write");
    await toolset.refresh();
    await execute("read");
    expect(surface.frames.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  test.each(["a call", "a refresh"])(
    "is disabled, with the reason, once %s finds a definition that differs from its pin",
    async (how) => {
      let description = "Reads.";
      await using surface = await startScriptedSurface(offering(() => description));
      const pins = (await attachToolset(surface)).toolset.pins;
      const { toolset, execute, humanPlus, attachmentId } = await attachToolset(surface, {
        trust: TrustPolicy.everyTool({ pins }),
      });
      const { tools } = toolset;
      await humanPlus.watch("me", attachmentId);
      description = "Reads, and pays.";
      await settleFrames(surface, humanPlus);
      const found = how === "a call" ? execute("write") : toolset.refresh();
      await expect(found).rejects.toMatchObject({ code: "tool_definition_changed" });
      expect(toolset.disabled).toMatchObject({ code: "tool_definition_changed" });
      expect(toolset.tools).toBe(tools);
      description = "Reads.";
      const refused = await failure(execute("write"));
      expect(refused).toMatchObject({ code: "tool_definition_changed", outcome: "not_applied" });
      expect(refused.message).toMatch(/disabled until[\s\S]*defines read otherwise than its pin says/);
      await toolset.refresh();
      expect(toolset.disabled).toBeUndefined();
      await execute("write");
    },
  );

  test("asks a person, in words, about tools of the host's own choice, and takes no answer in place of the call", async () => {
    await using canvas = await startLiveCanvas();
    const { toolset } = await attachToolset(canvas, { approval: ({ tool }) => tool === "canvas_move" });
    const context = { sessionId: "s", runId: "r", toolCallId: "c" };
    const [move, read] = toolset.tools;
    const request = move?.elicitation?.({ card: "budget", note: "x".repeat(5000) }, context);
    expect(request?.reason).toMatch(
      /^May the agent call "canvas_move" on the surface "board"\? Arguments: \{"card":"budget"/,
    );
    expect(new TextEncoder().encode(request?.reason).length).toBeLessThanOrEqual(2048);
    expect(request?.schema).toMatchObject({ type: "object" });
    expect(() => request?.validate?.({})).toThrow(/in place of|the place of the call/);
    expect(read?.elicitation).toBeUndefined();
  });

  test("tells the model what changed and by whose hand, and people what the agent does, when it has the tools for it", async () => {
    await using canvas = await startLiveCanvas();
    const { execute } = await attachToolset(canvas, { changes: true, announce: true });
    await execute("canvas_read");
    expect(await execute("surface_board_changes")).toMatchObject({
      value: { text: "Nothing changed on the surface since you last read it." },
      metadata: { humanplus: { nothingChanged: true } },
    });
    canvas.personMoves("budget", 5, 5);
    expect(await execute("surface_board_changes")).toMatchObject({
      value: {
        text: expect.stringMatching(/"budget": moved by a person/),
        notices: [expect.stringMatching(/^Leave alone/)],
      },
    });
    const seen = new Promise<void>((resolve) => {
      canvas.surface.subscribe(() => {
        if (canvas.surface.getSnapshot().participants.some(({ activity }) => activity?.action === "tidying up"))
          resolve();
      });
    });
    await execute("surface_board_announce", { action: "tidying up", target: "budget", priority: "background" });
    await seen;
    for (const args of [{}, { action: "" }, { action: "x", priority: "blocking" }, { action: "x", target: 7 }])
      expect(await failure(execute("surface_board_announce", args))).toMatchObject({ code: "invalid_argument" });
  });
});
