import { methods } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { type ScriptedSurface, startScriptedSurface } from "../parts/scripted-surface.ts";
import { createMemoryToolEffectStore } from "./host/effect-store.ts";
import type { Tool } from "./host/shapes.ts";
import { call, type PrismAgent, startPrismAgent, transports } from "./parts/prism-agent.ts";
import { settleFrames } from "./parts/settle-frames.ts";

const silent = () => startScriptedSurface(() => undefined);
const done = { result: { content: [{ type: "text", text: "done" }] } };
const progress = (token: string | undefined, step: number, message = "on it") => ({
  jsonrpc: "2.0",
  method: methods.progress,
  params: { progressToken: token, progress: step, message },
});
const tokenOf = ({ params }: { params?: Record<string, unknown> | undefined }) =>
  (params?.["_meta"] as { progressToken?: string } | undefined)?.progressToken;
const calledFrame = ({ frames }: ScriptedSurface) => frames.find(({ method }) => method === methods.callTool);

/** Makes the host take no progress before a moment, and counts what it is given meanwhile. */
function slowHost({ config, toolset }: PrismAgent, until: Promise<void>): { most(): number; calls(): number } {
  let calls = 0;
  let atOnce = 0;
  let most = 0;
  config.tools = toolset.tools.map((tool: Tool) => ({
    ...tool,
    execute: (args, context) =>
      tool.execute(args, {
        ...context,
        async progress(...step) {
          calls++;
          most = Math.max(most, ++atOnce);
          await until;
          await context.progress?.(...step);
          atOnce--;
        },
      }),
  }));
  return { most: () => most, calls: () => calls };
}

describe.each(transports)("over %s", (_, createTransport) => {
  const start = (surface: ScriptedSurface, more: object = {}) =>
    startPrismAgent({ surface, createTransport, steps: [{ calls: [call("c1", "write")] }], ...more });

  test("a run that is aborted in the middle of a call ends within 100 ms, the surface is told, and no progress follows", async () => {
    const took: number[] = [];
    for (let round = 0; round < 3; round++) {
      await using surface = await silent();
      await using agent = await start(surface);
      const release = await agent.humanPlus.watch("me", agent.attachmentId);
      const run = agent.session.run("go");
      run.catch(() => undefined);
      await surface.arrival(methods.callTool);
      const token = tokenOf(calledFrame(surface) ?? {});
      await surface.send(progress(token, 1));
      await settleFrames(surface, agent.humanPlus);
      expect(agent.of("tool_execution_progress")).toHaveLength(1);

      const abortedAt = performance.now();
      agent.session.abort();
      await expect(run).rejects.toMatchObject({ status: "aborted" });
      took.push(performance.now() - abortedAt);
      await surface.arrival(methods.cancelled);
      await surface.send(progress(token, 2));
      await settleFrames(surface, agent.humanPlus);
      expect(agent.of("tool_execution_progress")).toHaveLength(1);
      expect(agent.of("tool_execution_error")).toMatchObject([{ error: { code: "aborted" } }]);
      release();
    }
    // The machine may be busy in one round, and not in all of them.
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test("a call that hangs ends at the set's own timeout, although the host waits for ever, and is cancelled", async () => {
    await using surface = await silent();
    await using agent = await start(surface, { toolset: { timeoutMs: 1_000 } });
    expect(await agent.session.run("go")).toMatchObject({ status: "succeeded" });
    expect(agent.of("tool_execution_error")).toMatchObject([
      { error: { code: "relay_timeout", message: expect.stringContaining("Outcome: unknown") } },
    ]);
    await surface.arrival(methods.cancelled);
  });

  test("a call whose answer is lost leaves its effect unknown, and is never made again", async () => {
    await using surface = await silent();
    const effectStore = createMemoryToolEffectStore();
    const effect = { kind: "external_mutation", idempotency: "required" } as const;
    await using agent = await start(surface, {
      steps: [{ calls: [call("c1", "write")] }, { calls: [call("c1", "write")] }],
      toolset: { timeoutMs: 1_000, effect: () => effect },
      config: { identity: { id: "me", active: true }, effectStore },
    });
    await agent.session.run("go");
    expect(agent.of("tool_execution_error")).toMatchObject([{ error: { code: "ERR_PRISM_TOOL_EFFECT_UNKNOWN" } }]);
    expect(agent.of("tool_execution_blocked")).toMatchObject([{ reason: "execution_denied" }]);
    expect(surface.frames.filter(({ method }) => method === methods.callTool)).toHaveLength(1);
  });

  test("progress comes one step after another, small, framed, and none after the call has settled", async () => {
    const flood = 60;
    const { promise: allSent, resolve: sentAll } = Promise.withResolvers<void>();
    await using surface = await startScriptedSurface(async (request, { send }) => {
      if (request.method !== methods.callTool) return undefined;
      const token = tokenOf(request);
      for (let step = 1; step <= flood; step++) await send(progress(token, step, `${step} ${"x".repeat(15_000)}`));
      sentAll();
      return done;
    });
    await using agent = await start(surface);
    const host = slowHost(agent, allSent);
    const release = await agent.humanPlus.watch("me", agent.attachmentId);
    await agent.session.run("go");
    expect(host.most()).toBe(1);
    const steps = agent.of("tool_execution_progress");
    expect(steps.length).toBeGreaterThan(0);
    for (const { progress: payload, metadata } of steps) {
      expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(8_192);
      expect(payload).toMatchObject({
        message: expect.stringMatching(/^<surface-data [\s\S]*<\/surface-data nonce="\w{16}">$/),
      });
      expect(Object.keys(metadata ?? {})).toEqual(["humanplus"]);
    }
    const growing = steps.map(({ progress: payload }) => (payload as { progress: number }).progress);
    expect(growing).toEqual(growing.toSorted((one, two) => one - two));
    expect(growing.at(-1)).toBe(flood);

    const token = tokenOf(calledFrame(surface) ?? {});
    await surface.send(progress(token, flood + 1));
    await settleFrames(surface, agent.humanPlus);
    expect(agent.of("tool_execution_progress")).toHaveLength(steps.length);
    const end = agent.events.findIndex(({ type }) => type === "tool_execution_finished");
    expect(agent.events.slice(end).map(({ type }) => type)).not.toContain("tool_execution_progress");
    release();
  });

  test("steps that wait for a slow host do not follow an abort", async () => {
    await using surface = await silent();
    await using agent = await start(surface);
    const { promise: later, resolve: release } = Promise.withResolvers<void>();
    const host = slowHost(agent, later);
    const run = agent.session.run("go");
    run.catch(() => undefined);
    await surface.arrival(methods.callTool);
    const token = tokenOf(calledFrame(surface) ?? {});
    for (const step of [1, 2, 3]) await surface.send(progress(token, step));
    await settleFrames(surface, agent.humanPlus);
    agent.session.abort();
    await expect(run).rejects.toMatchObject({ status: "aborted" });
    release();
    await settleFrames(surface, agent.humanPlus);
    expect(host.calls()).toBe(1);
  });
});

test("a host without progress and without a signal gets its result all the same", async () => {
  const [[, createTransport]] = transports;
  await using surface = await startScriptedSurface(({ method }) => (method === methods.callTool ? done : undefined));
  await using agent = await startPrismAgent({ surface, createTransport, steps: [] });
  const tool = agent.toolset.registry().resolve("surface_board_write");
  const result = await tool.execute({}, { sessionId: "s", runId: "r", toolCallId: "c1" });
  expect(result).toMatchObject({ toolCallId: "c1", value: { text: expect.stringContaining("done") } });
});
