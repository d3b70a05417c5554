import { methods } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "../parts/live-canvas.ts";
import { startScriptedSurface } from "../parts/scripted-surface.ts";
import { createMemoryCheckpointStore } from "./host/checkpoints.ts";
import type { RunDecision } from "./host/decisions.ts";
import { type AgentRunLifecycle, createAgentRunLifecycle } from "./host/lifecycle.ts";
import type { RunResult } from "./host/run.ts";
import type { Message } from "./host/shapes.ts";
import { call, type PrismAgent, type PrismAgentOptions, startPrismAgent, transports } from "./parts/prism-agent.ts";

interface Durable {
  readonly agent: PrismAgent;
  readonly lifecycle: AgentRunLifecycle;
  readonly entries: Message[];
  readonly suspended: RunResult;
  decide(decision: Omit<RunDecision, "approvalId">, run?: RunResult): Promise<RunResult>;
}

/** Runs an agent of a durable host until it waits for a decision. `latest` is the agent that the run goes on with. */
async function suspend(options: PrismAgentOptions, latest?: () => PrismAgent): Promise<Durable> {
  const checkpoints = createMemoryCheckpointStore();
  const entries: Message[] = [];
  const runState = { checkpoints, definitionRevision: "1", interruptBeforeTool: true };
  const agent = await startPrismAgent({ ...options, config: { ...options.config, runState } });
  const lifecycle = createAgentRunLifecycle({
    checkpoints,
    resolveAgent: () => ({ ...(latest?.() ?? agent).config, runState }),
    entriesOf: () => entries,
  });
  const suspended = await agent.session.run("go");
  expect(suspended.status).toBe("suspended");
  return {
    agent,
    lifecycle,
    entries,
    suspended,
    decide: (decision, { runId, version, pendingDecisions } = suspended) =>
      lifecycle.resume(runId, {
        expectedVersion: version,
        decisions: pendingDecisions.map(({ approvalId }) => ({ ...decision, approvalId })),
      }),
  };
}

const move = (x: number) => ({ calls: [call(`move ${x}`, "canvas_move", { card: "budget", x, y: 1 })] });
const approval = ({ tool }: { tool: string }) => tool === "canvas_move";

describe.each(transports)("over %s", (_, createTransport) => {
  const start = (surface: LiveCanvas, more: Partial<PrismAgentOptions> = {}, latest?: () => PrismAgent) =>
    suspend({ surface, createTransport, steps: [move(1)], toolset: { approval }, ...more }, latest);

  test("a call waits with a question that a person can read, and is made once it is allowed", async () => {
    await using canvas = await startLiveCanvas();
    const { agent, suspended, decide, entries } = await start(canvas);
    await using _ = agent;
    expect(suspended.pendingDecisions).toMatchObject([
      {
        kind: "elicitation",
        toolCallId: "move 1",
        reason: expect.stringMatching(/canvas_move.*board.*"card":"budget"/),
      },
    ]);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 0 });
    expect(await decide({ outcome: "allow_once" })).toMatchObject({ status: "succeeded" });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 1 });
    expect(JSON.stringify(entries)).toContain("moved budget");
  });

  test("no answer takes the place of a call: it would be taken for what the surface said", async () => {
    await using canvas = await startLiveCanvas();
    const { agent, decide } = await start(canvas);
    await using _ = agent;
    const answered = decide({ outcome: "allow_once", elicitation: {} });
    await expect(answered).rejects.toMatchObject({ code: "ERR_PRISM_DECISION_INVALID" });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 0 });
    expect(await decide({ outcome: "allow_once" })).toMatchObject({ status: "succeeded" });
  });

  test("a call that is rejected never reaches the surface, and is no event of a tool", async () => {
    await using canvas = await startLiveCanvas();
    const { agent, decide, entries } = await start(canvas);
    await using _ = agent;
    expect(await decide({ outcome: "reject_once", reason: "not now" })).toMatchObject({ status: "succeeded" });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 0 });
    expect(JSON.stringify(entries)).toContain("not now");
  });

  test("reads wait as well, and what was allowed for a run covers the same arguments alone", async () => {
    await using canvas = await startLiveCanvas();
    const steps = [{ calls: [call("read", "canvas_read")] }, move(1), move(1), move(2)];
    const { agent, decide, suspended } = await start(canvas, { steps });
    await using _ = agent;
    expect(suspended.pendingDecisions).toMatchObject([{ kind: "tool_approval", toolCallId: "read" }]);
    const first = await decide({ outcome: "allow_once" });
    expect(first.pendingDecisions).toMatchObject([{ toolCallId: "move 1" }]);
    const second = await decide({ outcome: "allow_for_run" }, first);
    expect(second.pendingDecisions).toMatchObject([{ toolCallId: "move 2" }]);
    expect(await decide({ outcome: "allow_once" }, second)).toMatchObject({ status: "succeeded" });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 2 });
  });

  test("a run goes on in another process with tools that were listed anew", async () => {
    await using canvas = await startLiveCanvas();
    let later: PrismAgent | undefined;
    const { agent, decide } = await start(canvas, {}, () => later as PrismAgent);
    await using _ = agent;
    await using next = await startPrismAgent({ surface: canvas, createTransport, steps: [], toolset: { approval } });
    later = next;
    expect(await decide({ outcome: "allow_once" })).toMatchObject({ status: "succeeded" });
    expect(canvas.cards.get("budget")).toMatchObject({ x: 1 });
  });

  test("a staged write comes back at once, and the run ends although nobody has decided", async () => {
    await using canvas = await startLiveCanvas();
    canvas.surface.tool({
      name: "canvas_propose",
      stage: true,
      handler: (_, staged) => void staged.propose({ handle: "budget", kind: "moved" }, () => undefined),
    });
    const steps = [{ calls: [call("c1", "canvas_propose")] }];
    await using agent = await startPrismAgent({ surface: canvas, createTransport, steps });
    expect(await agent.session.run("go")).toMatchObject({ status: "succeeded" });
    expect(agent.provider.read("c1")).toContain('"status":"proposed, waiting for a person"');
    expect(canvas.surface.getSnapshot().proposals).toHaveLength(1);
  });
});

test.each(transports)(
  "over %s, a run goes on although the surface shuffles its definitions and describes them otherwise",
  async (_, createTransport) => {
    const properties = { y: { type: "number" }, x: { minimum: 0, type: "number" } };
    const lists = [
      [
        { name: "read", description: "Reads." },
        { name: "write", description: "Writes.", inputSchema: { type: "object", required: ["x", "y"], properties } },
      ],
      [
        {
          inputSchema: {
            properties: { x: { type: "number", minimum: 0 }, y: { type: "number" } },
            required: ["y", "x"],
            type: "object",
          },
          description: "Writes well.",
          name: "write",
        },
        { name: "read", description: "Reads well." },
      ],
    ];
    let current = lists[0];
    await using surface = await startScriptedSurface(({ method }) => {
      if (method === methods.listTools) return { result: { tools: current } };
      return method === methods.callTool ? { result: { content: [{ type: "text", text: "done" }] } } : undefined;
    });
    const steps = [{ calls: [call("c1", "write", { x: 1, y: 1 })] }];
    const { agent, decide, entries } = await suspend({ surface, createTransport, steps });
    await using __ = agent;
    current = lists[1];
    await agent.toolset.refresh();
    expect(await decide({ outcome: "allow_once" })).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(entries)).toContain("done");
  },
);
