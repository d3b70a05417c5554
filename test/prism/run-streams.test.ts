import { watchSurface } from "@human-plus/adapter-prism";
import { methods } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { assertGood } from "../ag-ui/judge.ts";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { startScriptedSurface } from "../parts/scripted-surface.ts";
import type { AgentEvent } from "./host/events.ts";
import { createAgentSession } from "./host/session.ts";
import { toAgUiFrames } from "./parts/ag-ui-frames.ts";
import { personDrags } from "./parts/person.ts";
import { call, type PrismAgent, startPrismAgent, transports } from "./parts/prism-agent.ts";

const tokenOf = ({ params }: { params?: Record<string, unknown> | undefined }) =>
  (params?.["_meta"] as { progressToken?: string } | undefined)?.progressToken;

/** The deepest level, and the keys of all levels. */
function measure(value: unknown): { depth: number; keys: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, keys: 0 };
  const inner = Object.values(value).map(measure);
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    keys: inner.reduce((sum, { keys }) => sum + keys, own),
  };
}

describe.each(transports)("over %s", (_, createTransport) => {
  test("a run that reads, is refused, makes progress and loses a call is a good stream to every AG-UI client", async () => {
    await using canvas = await startLiveCanvas();
    canvas.surface.tool({
      name: "canvas_count",
      touches: "none",
      async handler(_, { progress, signal }) {
        for (const step of [1, 2, 3]) progress(step, { total: 3, message: `step ${step}` });
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return "never";
      },
    });
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      toolset: { timeoutMs: 1_000, exclusive: false },
      config: { toolConcurrency: 2 },
      steps: [
        { calls: [call("c1", "canvas_read")] },
        () => {
          canvas.personMoves("budget", 7, 7);
          return { calls: [call("c2", "canvas_move", { card: "budget", x: 1, y: 1 }), call("c3", "canvas_count")] };
        },
      ],
    });
    await agent.session.run("go");
    expect(agent.of("tool_execution_progress").length).toBeGreaterThan(0);
    expect(
      agent
        .of("tool_execution_error")
        .map(({ error }) => error.code)
        .toSorted(),
    ).toEqual(["relay_timeout", "surface_changed_under_you"]);
    await assertGood({ events: toAgUiFrames(agent.events) });
  });

  test("progress stays within what the AG-UI side hands on, whatever a surface sends", async () => {
    const nested = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {});
    await using surface = await startScriptedSurface(async (request, { send }) => {
      if (request.method !== methods.callTool) return undefined;
      const params = { progressToken: tokenOf(request), progress: 1, total: 9, message: "é".repeat(8_000), nested };
      await send({ jsonrpc: "2.0", method: methods.progress, params });
      return { result: { content: [{ type: "text", text: "done" }] } };
    });
    const steps = [{ calls: [call("c1", "write")] }];
    await using agent = await startPrismAgent({ surface, createTransport, steps });
    await agent.session.run("go");
    expect(agent.of("tool_execution_progress")).toHaveLength(1);
    const [{ progress, metadata } = {}] = agent.of("tool_execution_progress");
    expect(Buffer.byteLength(JSON.stringify({ progress, metadata }))).toBeLessThan(65_536);
    const { depth, keys } = measure({ progress, metadata });
    expect(depth).toBeLessThan(16);
    expect(keys).toBeLessThan(128);
  });
});

describe.each(transports)("the events of a session, over %s", (_, createTransport) => {
  const reading = [{ calls: [call("c1", "canvas_read")] }];

  test("of a run whose surface is gone come to their end, and its stream gives no error that nobody hears", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({ surface: canvas, createTransport, steps: reading });
    await canvas.connection.close();
    const types: string[] = [];
    for await (const { type } of createAgentSession(agent.config).stream("go")) types.push(type);
    expect(types.at(-1)).toBe("agent_finished");
    expect(types).toContain("tool_execution_error");
  });

  test("of kinds that nobody knows yet, and more than can wait, leave a watch as it was", async () => {
    await using canvas = await startLiveCanvas();
    await using agent: PrismAgent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        ...reading,
        { calls: [{ id: "burst", name: "burst" }] },
        async () => {
          await personDrags(canvas, agent);
          return { calls: [call("c2", "canvas_read")] };
        },
      ],
    });
    const { humanPlus, attachmentId, session, toolset } = agent;
    const registry = toolset.registry();
    registry.register({
      name: "burst",
      execute(_, { toolCallId, progress }) {
        for (let step = 0; step < 600; step++) void progress?.(step);
        return { toolCallId, name: "burst", value: "done" };
      },
    });
    agent.config.tools = registry;
    /** The host's session, with events of a later version among its own. */
    const newer = {
      ...session,
      subscribe: async function* (options?: Parameters<typeof session.subscribe>[0]): AsyncGenerator<AgentEvent> {
        for await (const event of session.subscribe(options)) {
          yield event;
          yield { ...event, type: "delegated_agent_step" } as never;
        }
      },
    };
    using _watching = await watchSurface(newer, { humanPlus, owner: "me", attachmentId });
    await session.run("go");
    expect(agent.of("queue_updated").map(({ size }) => size)).toEqual([1]);
    expect(
      agent.provider.requests
        .at(-1)
        ?.messages.map(({ text }) => text)
        .join(),
    ).toContain("A person is working");
  });
});
