import { createHarnessToolset, type HarnessToolsetOptions } from "@human-plus/adapter-prism/harness";
import { TrustPolicy } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "../parts/live-canvas.ts";
import { offerProposing } from "./parts/proposing-tool.ts";

async function harness(canvas: LiveCanvas, options: Partial<HarnessToolsetOptions> = {}) {
  const humanPlus = canvas.createClient();
  const trust = TrustPolicy.everyTool();
  const participant = { name: "Tidy" };
  const { id } = await humanPlus.attach({ owner: "me", invitation: canvas.invitation, participant, trust });
  const toolset = await createHarnessToolset({ humanPlus, owner: "me", attachmentId: id, ...options });
  const find = (name: string) => {
    const tool = toolset.tools.find((each) => each.name === `surface_board_${name}`);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  return { toolset, find, humanPlus, id };
}

describe("the tools of a surface in the other family's harness", () => {
  test("have all that it asks of a tool, and the host alone says which need approval", async () => {
    await using canvas = await startLiveCanvas();
    const { find } = await harness(canvas, { approval: ({ tool }) => tool === "canvas_move" });
    expect(find("canvas_move")).toEqual({
      name: "surface_board_canvas_move",
      description: expect.stringContaining("\nMoves a card.\n"),
      parameters: { type: "object", properties: {}, required: ["card", "x", "y"] },
      required: ["card", "x", "y"],
      requiresApproval: true,
      handle: expect.any(Function),
    });
    expect(find("canvas_read")).toMatchObject({ required: [], requiresApproval: false });
  });

  test("give the model text, framed, and write", async () => {
    await using canvas = await startLiveCanvas();
    const { find } = await harness(canvas, { changes: true });
    expect(await find("canvas_read").handle()).toMatch(
      /^<surface-data [\s\S]*"Budget"[\s\S]*<\/surface-data nonce="\w{16}">$/,
    );
    await find("canvas_move").handle({ card: "budget", x: 3, y: 4 });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 3, y: 4 });
    expect(await find("changes").handle({})).toMatch(/^Nothing changed/);
  });

  test("throw what was refused, in words for the model", async () => {
    await using canvas = await startLiveCanvas();
    const { find, toolset } = await harness(canvas);
    await find("canvas_read").handle({});
    canvas.personMoves("budget", 7, 7);
    await expect(find("canvas_move").handle({ card: "budget", x: 1, y: 1 })).rejects.toMatchObject({
      code: "surface_changed_under_you",
      outcome: "not_applied",
      message: expect.stringMatching(/"budget": moved by a person[\s\S]*Outcome: not_applied/),
    });
    await toolset.close();
    await expect(find("canvas_read").handle({})).rejects.toMatchObject({ code: "closed" });
  });

  test("say of a proposal that it waits, refuse what is too large, and end on abort", async () => {
    await using canvas = await startLiveCanvas();
    offerProposing(canvas);
    const { find } = await harness(canvas, { maxResultBytes: 600 });
    expect(await find("canvas_propose").handle({})).toMatch(/^proposed, waiting for a person\n/);
    await expect(find("canvas_read").handle({})).resolves.toContain("Budget");
    canvas.cards.set("long", { title: "x".repeat(600), x: 0, y: 0 });
    await expect(find("canvas_read").handle({})).rejects.toMatchObject({ code: "result_refused", outcome: "applied" });
    await expect(find("canvas_read").handle({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
  });

  test("follow the surface when they are refreshed", async () => {
    await using canvas = await startLiveCanvas();
    const { toolset, humanPlus, id } = await harness(canvas);
    expect(toolset.tools).toHaveLength(3);
    await humanPlus.watch("me", id);
    const changed = new Promise<void>((resolve) => humanPlus.on("catalogueChanged", () => resolve()));
    canvas.surface.tool({ name: "canvas_count", touches: "none", handler: () => "2" });
    await changed;
    expect(toolset.stale).toBe(true);
    await toolset.refresh();
    expect(toolset.tools.map(({ name }) => toolset.names.get(name))).toContain("canvas_count");
    expect(toolset).toMatchObject({ stale: false, disabled: undefined });
  });
});
