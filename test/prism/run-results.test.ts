import type { JsonObject } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { type Answering, startScriptedSurface } from "../parts/scripted-surface.ts";
import { createSecretRedactor } from "./host/redactor.ts";
import { call, startPrismAgent, transports } from "./parts/prism-agent.ts";
import { createRecordingStore } from "./parts/recording-store.ts";

const identity = { id: "me", active: true };
const required = { kind: "external_mutation", idempotency: "required" } as const;
const onCall =
  (answer: Answering): Answering =>
  (request, surface) =>
    request.method === "tools/call" ? answer(request, surface) : undefined;

describe.each(transports)("over %s", (_, createTransport) => {
  test("calls that run at once, and fail in part, end under the host's ids and names, so that no effect is left unknown", async () => {
    await using canvas = await startLiveCanvas();
    const effectStore = createRecordingStore();
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        { calls: [call("r", "canvas_read")] },
        () => {
          canvas.personMoves("budget", 7, 7);
          const move = (id: string, card: string) => call(id, "canvas_move", { card, x: 1, y: 1 });
          return { calls: [move("refused", "budget"), move("moved", "travel"), call("read", "canvas_read")] };
        },
      ],
      toolset: { effect: () => required, exclusive: false },
      config: { identity, effectStore, toolConcurrency: 3 },
    });
    await agent.session.run("go");
    expect(agent.of("tool_execution_error")).toEqual([]);
    const ends = agent.of("tool_execution_finished").map(({ result: { toolCallId, name } }) => [toolCallId, name]);
    expect(ends.toSorted()).toEqual([
      ["moved", "surface_board_canvas_move"],
      ["r", "surface_board_canvas_read"],
      ["read", "surface_board_canvas_read"],
      ["refused", "surface_board_canvas_move"],
    ]);
    expect(effectStore.records().map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "completed",
      "completed",
    ]);
    expect(agent.provider.read("refused")).toMatch(/surface_changed_under_you/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7, y: 7 });
  });

  test("the model of every provider reads what a surface said, and reads why a call failed", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      provider: { refusesContent: true },
      steps: [
        { calls: [call("read", "canvas_read")] },
        () => {
          canvas.personMoves("budget", 7, 7);
          return { calls: [call("refused", "canvas_move", { card: "budget", x: 1, y: 1 })] };
        },
      ],
    });
    await agent.session.run("go");
    const { text } = JSON.parse(agent.provider.read("read") ?? "");
    expect(text).toMatch(/^<surface-data [\s\S]*"Budget"/);
    const failure = JSON.parse(agent.provider.read("refused") ?? "");
    expect(failure).toEqual({
      name: "HumanPlusError",
      code: "surface_changed_under_you",
      message: expect.stringMatching(/"budget": moved by a person[\s\S]*Outcome: not_applied/),
    });
    expect(agent.of("tool_execution_error").map(({ call: { id } }) => id)).toEqual(["refused"]);
  });
});

describe.each(transports)("what a surface says, over %s", (_, createTransport) => {
  test.each(["ERR_PRISM_AGENT_RUN_SUSPENDED", "ERR_PRISM_LOOP_REVISION", "ERR_PRISM_DELEGATION_SUSPENDED"])(
    "never passes for the host's own code %s, which would end the run",
    async (code) => {
      const error = { code, message: code, data: { code, reason: code } };
      await using surface = await startScriptedSurface(onCall(() => ({ error })));
      const steps = [{ calls: [call("c1", "write")] }];
      await using agent = await startPrismAgent({ surface, createTransport, steps });
      expect(await agent.session.run("go")).toMatchObject({ status: "succeeded" });
      expect(agent.of("tool_execution_error")).toMatchObject([{ error: { code: "surface_error" } }]);
    },
  );

  test("in metadata reaches neither the top of the host's metadata nor deletes the result", async () => {
    const _meta = {
      approvalPending: true,
      humanplus: { outcome: "not_applied" },
      revision: "r1",
      more: "x".repeat(9000),
    };
    const result = { approvalPending: true, content: [{ type: "text", text: "read me" }], _meta };
    await using surface = await startScriptedSurface(onCall(() => ({ result })));
    const steps = [{ calls: [call("c1", "read")] }];
    await using agent = await startPrismAgent({ surface, createTransport, steps });
    await agent.session.run("go");
    expect(agent.provider.read("c1")).toContain("read me");
    const [
      {
        result: { metadata },
      } = { result: {} },
    ] = agent.of("tool_execution_finished");
    expect(metadata).toEqual({ humanplus: { surfaceId: "board", tool: "read", outcome: "applied", revision: "r1" } });
  });

  test("is plain enough for the host's redactor, however deep the surface's data is", async () => {
    const deep = Array.from({ length: 60 }).reduce<JsonObject>((inner) => ({ inner }), { leaf: "here" });
    await using surface = await startScriptedSurface(
      onCall(() => ({ result: { structuredContent: deep, content: [] } })),
    );
    const steps = [{ calls: [call("c1", "read")] }];
    const config = { redactor: createSecretRedactor(["hush"]) };
    await using agent = await startPrismAgent({ surface, createTransport, steps, config });
    await agent.session.run("go");
    expect(agent.provider.read("c1")).toContain("here");
    expect(JSON.stringify(agent.events)).not.toContain("[MaxDepth]");
  });

  test("fits what the host keeps of an effect, or is refused and known to be carried out", async () => {
    const sizes = [40_000, 32_000];
    const answer = () => ({ result: { content: [{ type: "text", text: '"'.repeat(sizes.shift() ?? 0) }] } });
    await using surface = await startScriptedSurface(onCall(answer));
    const effectStore = createRecordingStore();
    await using agent = await startPrismAgent({
      surface,
      createTransport,
      steps: [{ calls: [call("large", "read"), call("largest", "write")] }],
      toolset: { effect: () => required },
      config: { identity, effectStore },
    });
    await agent.session.run("go");
    expect(agent.provider.read("large")).toMatch(/result_refused.*applied/);
    expect(effectStore.records().map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test("of a refusal stays within the 8 KiB of an error, with its frame and the outcome whole", async () => {
    const changes = Array.from({ length: 100 }, (_, n) => ({
      handle: `card ${n}`,
      change: "moved",
      by: "human",
      label: "é".repeat(250),
    }));
    const error = { code: -32_000, message: "stale", data: { code: "revision_mismatch", changes, complete: true } };
    await using surface = await startScriptedSurface(onCall(() => ({ error })));
    const steps = [{ calls: [call("c1", "write")] }];
    await using agent = await startPrismAgent({ surface, createTransport, steps });
    await agent.session.run("go");
    const [{ error: shown } = { error: undefined }] = agent.of("tool_execution_error");
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(8192);
    expect(shown?.message).toMatch(
      /nonce="([0-9a-f]{16})">\n[\s\S]*\n<\/surface-data nonce="\1">\nOutcome: not_applied/,
    );
  });
});
