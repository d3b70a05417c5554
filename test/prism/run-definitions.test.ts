import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { type Answering, startScriptedSurface } from "../parts/scripted-surface.ts";
import { fingerprintOf } from "./host/checkpoints.ts";
import { permissionOf } from "./host/policies.ts";
import { createToolRegistry } from "./host/registry.ts";
import { createToolParameterValidator } from "./host/schema-validator.ts";
import { call, startPrismAgent, transports } from "./parts/prism-agent.ts";

const offering =
  (list: () => object[]): Answering =>
  ({ method }) => {
    if (method === "tools/list") return { result: { tools: list() } };
    return method === "tools/call" ? { result: { content: [{ type: "text", text: "done" }] } } : undefined;
  };
const deep = (levels: number) => Array.from({ length: levels }).reduce<object>((not) => ({ not }), { type: "string" });

describe.each(transports)("over %s", (_, createTransport) => {
  test("tools with schemas that the host's validator refuses can be called all the same, each with an object schema", async () => {
    const schemas: Record<string, unknown> = {
      none: undefined,
      empty: {},
      text: { type: "string" },
      elsewhere: { type: "object", properties: { a: { $ref: "https://example.test/schema.json" } } },
      circular: { type: "object", $defs: { a: { $ref: "#/$defs/a" } }, properties: { a: { $ref: "#/$defs/a" } } },
      prototype: { type: "object", properties: { prototype: { type: "string" } }, $defs: { prototype: {} } },
      deep: { type: "object", properties: { a: deep(50) } },
      wide: { type: "object", description: "x".repeat(200_000) },
    };
    const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
    await using surface = await startScriptedSurface(offering(() => tools));
    await using agent = await startPrismAgent({
      surface,
      createTransport,
      steps: [{ calls: tools.map(({ name }) => call(name, name)) }],
      config: { validator: createToolParameterValidator({ missingSchema: "reject" }) },
    });
    await agent.session.run("go");
    expect(agent.of("tool_execution_blocked")).toEqual([]);
    expect(agent.of("tool_execution_finished")).toHaveLength(tools.length);
    for (const { parameters } of agent.provider.requests[0]?.tools ?? [])
      expect(parameters).toMatchObject({ type: "object" });
  });

  test("a refresh in the middle of a run shows in the next one, and a failed one leaves the same tools", async () => {
    await using canvas = await startLiveCanvas();
    await using agent = await startPrismAgent({
      surface: canvas,
      createTransport,
      steps: [
        { calls: [call("c1", "canvas_read")] },
        async () => {
          const stale = new Promise<void>((resolve) => void agent.humanPlus.on("catalogueChanged", () => resolve()));
          canvas.surface.tool({ name: "canvas_new", touches: "none", handler: () => "new" });
          await stale;
          expect(agent.toolset.stale).toBe(true);
          expect(names(agent.toolset.tools)).not.toContain("surface_board_canvas_new");
          await agent.toolset.refresh();
          expect(agent.toolset.stale).toBe(false);
          return { calls: [call("early", "canvas_new"), call("c2", "canvas_read")] };
        },
        { text: "done" },
        { calls: [call("late", "canvas_new")] },
      ],
    });
    const release = await agent.humanPlus.watch("me", agent.attachmentId);
    await agent.session.run("go");
    expect(agent.of("tool_execution_blocked")).toMatchObject([{ toolCallId: "early", reason: "unknown_tool" }]);
    await agent.session.run("again");
    const seen = agent.provider.requests.map(({ tools }) => names(tools).includes("surface_board_canvas_new"));
    expect(seen).toEqual([false, false, false, true, true]);
    expect(agent.provider.read("late")).toContain("new");

    const before = agent.toolset.tools;
    const refresh = agent.toolset.refresh({ signal: AbortSignal.abort() });
    await expect(refresh).rejects.toMatchObject({ code: "aborted" });
    expect(agent.toolset.tools).toBe(before);
    release();
  });
});

const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe.each(transports)("a set of tools, over %s", (_, createTransport) => {
  const agentOf = (surface: Parameters<typeof startPrismAgent>[0]["surface"], more: object = {}) =>
    startPrismAgent({ surface, createTransport, steps: [], ...more });

  test("mutates and is unsupported, whatever hints the surface gives, so that hosts without identities can run it", async () => {
    const annotations = { readOnlyHint: true, idempotentHint: true, destructiveHint: false };
    const effect = { kind: "none", idempotency: "none" };
    const tools = [{ name: "read", description: "It changes nothing.", annotations, effect, _meta: { effect } }];
    await using surface = await startScriptedSurface(offering(() => tools));
    const steps = [{ calls: [call("c1", "read")] }];
    await using agent = await agentOf(surface, { steps });
    expect(agent.toolset.tools.map((tool) => tool.effect)).toEqual([
      { kind: "external_mutation", idempotency: "unsupported" },
    ]);
    await agent.session.run("go");
    expect(agent.of("tool_execution_finished")).toHaveLength(1);
  });

  test("has the effects that the host's own policy gives", async () => {
    await using surface = await startScriptedSurface(offering(() => [{ name: "read" }, { name: "write" }]));
    const steps = [{ calls: [call("c1", "read"), call("c2", "write")] }];
    const effect = ({ surfaceId, tool }: { surfaceId: string; tool: string }) =>
      surfaceId === "board" && tool === "read"
        ? ({ kind: "none", idempotency: "none" } as const)
        : ({ kind: "external_mutation", idempotency: "required" } as const);
    await using agent = await agentOf(surface, { steps, toolset: { effect } });
    await agent.session.run("go");
    expect(agent.of("tool_execution_finished").map(({ result }) => result.toolCallId)).toEqual(["c1"]);
    expect(agent.of("tool_execution_blocked")).toMatchObject([{ toolCallId: "c2", reason: "execution_denied" }]);
  });

  test("has names that every provider takes, that a policy can permit one by one, and that no second tool shares", async () => {
    const own = ["a.b", "a:b", "a_b", "A_b", "x".repeat(128), "_", "toString"];
    await using surface = await startScriptedSurface(offering(() => own.map((name) => ({ name }))));
    await using listing = await agentOf(surface);
    const { tools, names: mapping } = listing.toolset;
    expect(tools).toHaveLength(own.length);
    for (const { name } of tools) expect(name).toMatch(/^surface_board_[A-Za-z0-9_-]{1,50}$/);
    expect(() =>
      createToolRegistry(
        tools.map((tool) => ({ ...tool })),
        { duplicate: "error" },
      ),
    ).not.toThrow();
    expect([...mapping.values()].toSorted()).toEqual(own.toSorted());

    const [one, two] = names(tools) as [string, string];
    const steps = [{ calls: [one, two].map((name) => ({ id: name, name })) }];
    await using agent = await agentOf(surface, {
      steps,
      config: { permission: permissionOf([`tool:${one}:execute`]) },
    });
    await agent.session.run("go");
    expect(agent.of("tool_execution_finished").map(({ result }) => result.name)).toEqual([one]);
    expect(agent.of("tool_execution_blocked")).toMatchObject([{ name: two, reason: "permission_denied" }]);
    await expect(agentOf(surface, { toolset: { naming: () => "same" } })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("same"),
    });
  });

  test("is the same to the last byte for a surface that shuffles its tools and the keys of their schemas", async () => {
    const schema = {
      type: "object",
      required: ["x", "y"],
      properties: { y: { type: "number" }, x: { minimum: 0, type: "number" } },
    };
    const shuffled = {
      properties: { x: { type: "number", minimum: 0 }, y: { type: "number" } },
      required: ["y", "x"],
      type: "object",
    };
    let isShuffled = false;
    const list = () =>
      isShuffled
        ? [{ inputSchema: shuffled, name: "write" }, { name: "read" }]
        : [{ name: "read" }, { name: "write", inputSchema: schema }];
    await using surface = await startScriptedSurface(offering(list));
    await using agent = await agentOf(surface);
    const print = () => fingerprintOf({ id: "a", definitionRevision: "1", tools: agent.toolset.registry() });
    const before = print();
    await agent.toolset.refresh();
    expect(print()).toBe(before);
    isShuffled = true;
    await agent.toolset.refresh();
    expect(print()).toBe(before);
  });
});
