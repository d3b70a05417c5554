import { describe, expect, test } from "vitest";
import type { AgentConfig } from "./agent.ts";
import { createMemoryCheckpointStore } from "./checkpoints.ts";
import { createMemoryToolEffectStore } from "./effect-store.ts";
import type { AgentEvent } from "./events.ts";
import { createAgentRunLifecycle } from "./lifecycle.ts";
import { permissionOf } from "./policies.ts";
import { createScriptedProvider, type ScriptedProviderOptions } from "./provider.ts";
import { createSecretRedactor } from "./redactor.ts";
import { createToolRegistry } from "./registry.ts";
import { createToolParameterValidator } from "./schema-validator.ts";
import { createAgentSession } from "./session.ts";
import type { Tool, ToolResult } from "./shapes.ts";

const echo: Tool = {
  name: "echo",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  execute: (args, { toolCallId }) => ({ toolCallId, name: "echo", value: args }),
};
const twoTurns = (name: string, args: unknown = {}, options?: ScriptedProviderOptions) =>
  createScriptedProvider([{ calls: [{ id: "c1", name, arguments: args }] }, { text: "done" }], options);

async function eventsOf(config: AgentConfig, drain = true): Promise<{ events: AgentEvent[]; error: unknown }> {
  const events: AgentEvent[] = [];
  let error: unknown;
  try {
    for await (const event of createAgentSession(config).stream("go")) events.push(event);
  } catch (thrown) {
    if (!drain) throw thrown;
    error = thrown;
  }
  return { events, error };
}
const typesOf = ({ events }: { events: readonly AgentEvent[] }) => events.map(({ type }) => type);
const failing = (execute: Tool["execute"], more: Partial<Tool> = {}): Tool => ({ ...echo, ...more, execute });

describe("the order of things", () => {
  test("one run with one call has the events of the host, tools between turns", async () => {
    const types = typesOf(await eventsOf({ provider: twoTurns("echo"), tools: [echo] }));
    const turn = ["turn_started", "provider_turn_started", "message_started", "message_delta"];
    const ended = ["provider_turn_finished", "message_finished", "turn_finished"];
    const tool = ["tool_execution_started", "tool_execution_finished"];
    expect(types).toEqual(["agent_started", ...turn, ...ended, ...tool, ...turn, ...ended, "agent_finished"]);
  });

  test("a call is hooked, guarded, looked up, permitted, validated and claimed, in this order, before its tool runs", async () => {
    const steps: string[] = [];
    const step = <T>(name: string, value: T): T => {
      steps.push(name);
      return value;
    };
    const store = createMemoryToolEffectStore();
    const registry = createToolRegistry([
      {
        ...echo,
        effect: () => step("effect", { kind: "external_mutation", idempotency: "required" } as const),
        execute: (args, context) => step("execute", echo.execute(args, context)),
      },
    ]);
    const config: AgentConfig = {
      provider: twoTurns("echo"),
      tools: { ...registry, get: (name) => step("lookup", registry.get(name)) },
      identity: { id: "me", active: true },
      effectStore: { ...store, get: store.get, begin: (key) => step("claim", store.begin(key)) },
      middleware: {
        toolCall: (call) => step("hook tool_call", call),
        toolResult: (result) => step("hook tool_result", result),
      },
      guardrails: [
        { name: "in", stage: "tool_input", evaluate: () => step("guard input", { action: "allow" }) },
        { name: "out", stage: "tool_output", evaluate: () => step("guard output", { action: "allow" }) },
      ],
      trust: { check: () => step("trust", { trusted: true }) },
      permission: { check: () => step("permission", { allowed: true }) },
      validator: () => step("validate", undefined),
    };
    await createAgentSession(config).run("go");
    const round = steps.slice(steps.indexOf("hook tool_call"));
    const before = ["hook tool_call", "guard input", "lookup", "trust", "permission", "validate", "effect", "claim"];
    expect(round).toEqual([...before, "execute", "hook tool_result", "guard output"]);
  });

  test.each([
    ["unknown_tool", { tools: [] }],
    ["tool_denied", { filters: [{ deny: ["echo"] }] }],
    ["permission_denied", { permission: permissionOf(["tool:other:execute"]) }],
    ["permission_denied", { trust: { check: () => ({ trusted: false }) } }],
    ["validation_failed", { validator: () => "no" }],
    ["guardrail_blocked", { guardrails: [{ name: "g", stage: "tool_input", evaluate: () => ({ action: "block" }) }] }],
  ] as [string, Partial<AgentConfig>][])(
    "a call that is stopped with %s never reaches its tool",
    async (reason, more) => {
      const { events } = await eventsOf({ provider: twoTurns("echo"), tools: [echo], ...more });
      const types = typesOf({ events });
      expect(types).not.toContain("tool_execution_started");
      expect(events.find(({ type }) => type === "tool_execution_blocked")).toMatchObject({ reason });
      expect(types.at(-1)).toBe("agent_finished");
    },
  );

  test("a list with two tools of one name is sent whole, and the last is called", async () => {
    const provider = twoTurns("echo");
    const last = failing((_, { toolCallId }) => ({ toolCallId, name: "echo", value: "last" }));
    await createAgentSession({ provider, tools: [echo, last] }).run("go");
    expect(provider.requests[0]?.tools).toHaveLength(2);
    expect(provider.read("c1")).toBe('"last"');
  });
});

describe("what becomes of a result", () => {
  test("the model reads the value, or else the error, and null of content alone", async () => {
    const shown = async (result: Partial<ToolResult>) => {
      const provider = twoTurns("echo");
      const tool = failing((_, { toolCallId }) => ({ toolCallId, name: "echo", ...result }));
      await createAgentSession({ provider, tools: [tool] }).run("go");
      return provider.read("c1");
    };
    expect(await shown({ content: [{ type: "text", text: "hello" }] })).toBe("null");
    expect(await shown({ value: { a: 1 }, error: { message: "hidden" } })).toBe('{"a":1}');
    expect(await shown({ error: { code: "x", message: "seen" } })).toBe('{"code":"x","message":"seen"}');
  });

  test("a provider like the AI SDK's fails on content", async () => {
    const tool = failing((_, { toolCallId }) => ({ toolCallId, name: "echo", value: 1, content: [{ type: "text" }] }));
    const run = createAgentSession({ provider: twoTurns("echo", {}, { refusesContent: true }), tools: [tool] }).run(
      "go",
    );
    await expect(run).rejects.toMatchObject({ name: "AgentRunError", status: "failed" });
  });

  test("what is thrown shows as failed, what is returned as error shows as finished, and undefined ends the run", async () => {
    const thrown = await eventsOf({
      provider: twoTurns("echo"),
      tools: [
        failing(() => {
          throw Object.assign(new Error("no"), { code: "x" });
        }),
      ],
    });
    expect(thrown.events.find(({ type }) => type === "tool_execution_error")).toMatchObject({
      error: { message: "no", code: "x" },
    });
    const returned = await eventsOf({
      provider: twoTurns("echo"),
      tools: [failing((_, { toolCallId }) => ({ toolCallId, name: "echo", error: { message: "no" } }))],
    });
    expect(typesOf(returned)).toContain("tool_execution_finished");
    const nothing = await eventsOf({ provider: twoTurns("echo"), tools: [failing(() => undefined as never)] });
    expect(typesOf(nothing).at(-1)).toBe("error");
    expect(nothing.error).toMatchObject({ name: "AgentRunError" });
  });

  test("a reserved member of the metadata deletes the result from what the model sees", async () => {
    const provider = twoTurns("echo");
    const metadata = { approvalPending: true };
    const tool = failing((_, { toolCallId }) => ({ toolCallId, name: "echo", value: 1, metadata }));
    await createAgentSession({ provider, tools: [tool] }).run("go");
    expect(provider.read("c1")).toBeUndefined();
  });

  test("progress after the end still is an event", async () => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const tool = failing((args, context) => {
      late.then(() => context.progress?.(2));
      return echo.execute(args, context);
    });
    const session = createAgentSession({ provider: twoTurns("echo"), tools: [tool] });
    const events = session.subscribe();
    await session.run("go");
    resolve();
    await late;
    const types: string[] = [];
    for await (const { type } of events) {
      types.push(type);
      if (type === "tool_execution_progress") break;
    }
    expect(types.indexOf("tool_execution_progress")).toBeGreaterThan(types.indexOf("agent_finished"));
  });

  test("a secret is redacted, and what is deeper than 32 levels becomes a word", () => {
    const { redact } = createSecretRedactor(["hush"]);
    expect(redact({ hush: ["a hush b"] })).toEqual({ "[REDACTED]": ["a [REDACTED] b"] });
    const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {});
    expect(JSON.stringify(redact(deep))).toContain("[MaxDepth]");
  });
});

describe("effects", () => {
  const required = { effect: { kind: "external_mutation", idempotency: "required" } } as const;
  const identity = { id: "me", active: true };

  test("that need an identity are blocked without one", async () => {
    const { events } = await eventsOf({ provider: twoTurns("echo"), tools: [{ ...echo, ...required }] });
    expect(events.find(({ type }) => type === "tool_execution_blocked")).toMatchObject({
      reason: "execution_denied",
      error: { code: "ERR_PRISM_TOOL_EFFECT_CONFLICT" },
    });
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no"))],
    [
      "returns an error",
      (_: unknown, { toolCallId }: { toolCallId: string }) => ({ toolCallId, name: "echo", error: { message: "no" } }),
    ],
    ["returns another id", () => ({ toolCallId: "other", name: "echo", value: 1 })],
  ])("become unknown when the tool %s", async (_, execute) => {
    const effectStore = createMemoryToolEffectStore();
    const keys: string[] = [];
    const provider = twoTurns("echo");
    const tool = failing((args, context) => {
      keys.push(String(context.idempotencyKey));
      return execute(args as never, context as never) as ToolResult;
    }, required);
    const { events } = await eventsOf({ provider, tools: [tool], identity, effectStore });
    expect(effectStore.get(keys[0] ?? "")).toMatchObject({ status: "unknown" });
    expect(keys[0]).toMatch(/^prism:tool-effect:v1:[0-9a-f]{64}$/);
    expect(events.find(({ type }) => type === "tool_execution_error")).toMatchObject({
      error: { code: "ERR_PRISM_TOOL_EFFECT_UNKNOWN" },
    });
  });

  test("of a result over 64 KiB become unknown, and the model reads it all the same", async () => {
    const effectStore = createMemoryToolEffectStore();
    let key = "";
    const tool = failing((_, { toolCallId, idempotencyKey = "" }) => {
      key = idempotencyKey;
      return { toolCallId, name: "echo", value: "x".repeat(70_000) };
    }, required);
    const provider = twoTurns("echo");
    await createAgentSession({ provider, tools: [tool], identity, effectStore }).run("go");
    expect(effectStore.get(key)).toMatchObject({ status: "unknown" });
    expect(provider.read("c1")).toHaveLength(70_002);
  });
});

describe("schemas", () => {
  test.each([
    ["refers to another document", "another document", { $ref: "https://example.test/a.json" }],
    ["has a key of the prototype", "forbidden key", JSON.parse('{"properties":{"__proto__":{}}}')],
    ["is deeper than 64 levels", "deeper than 64", Array.from({ length: 70 }).reduce<object>((not) => ({ not }), {})],
    ["is larger than 256 KiB", "too large", { description: "x".repeat(300_000) }],
  ])("one that %s stops every call", async (_, problem, parameters) => {
    const validator = createToolParameterValidator();
    const { events } = await eventsOf({ provider: twoTurns("echo"), tools: [{ ...echo, parameters }], validator });
    expect(events.find(({ type }) => type === "tool_execution_blocked")).toMatchObject({
      reason: "validation_failed",
      error: { message: expect.stringContaining(problem) },
    });
  });
});

describe("durable runs", () => {
  function durable(tool: Tool) {
    const provider = twoTurns(tool.name, { text: "a" });
    const checkpoints = createMemoryCheckpointStore();
    const runState = { checkpoints, definitionRevision: "1", interruptBeforeTool: true };
    const config: AgentConfig = { provider, tools: [tool], runState };
    const lifecycle = createAgentRunLifecycle({ checkpoints, resolveAgent: () => config });
    return { provider, config, lifecycle, session: createAgentSession(config) };
  }

  test("wait for a decision before any tool, whatever its effect, and go on with it", async () => {
    const ran: unknown[] = [];
    const tool = failing(
      (args, context) => {
        ran.push(args);
        return echo.execute(args, context);
      },
      { effect: { kind: "none", idempotency: "none" } },
    );
    const { session, lifecycle, provider } = durable(tool);
    const { status, runId, pendingDecisions, version } = await session.run("go");
    expect([status, ran]).toEqual(["suspended", []]);
    const [{ approvalId = "" } = {}] = pendingDecisions;
    await lifecycle.resume(runId, { expectedVersion: version, decisions: [{ approvalId, outcome: "allow_once" }] });
    expect(ran).toEqual([{ text: "a" }]);
    expect(provider.read("c1")).toBeUndefined(); // the rest of this run is not shown the result
  });

  test("take an answer in the place of the call", async () => {
    const tool = failing(
      () => {
        throw new Error("it ran");
      },
      { elicitation: () => ({ schema: { type: "object", required: ["name"] }, reason: "who?" }) },
    );
    const { session, lifecycle } = durable(tool);
    const { runId, pendingDecisions, version } = await session.run("go");
    const [decision] = pendingDecisions;
    expect(decision).toMatchObject({ kind: "elicitation", reason: "who?" });
    const made = { approvalId: decision?.approvalId ?? "", outcome: "allow_once" as const };
    const resume = (elicitation: { name?: string }) =>
      lifecycle.resume(runId, { expectedVersion: version, decisions: [{ ...made, elicitation }] });
    await expect(resume({})).rejects.toMatchObject({ code: "ERR_PRISM_DECISION_INVALID" });
    await expect(resume({ name: "me" })).resolves.toMatchObject({ status: "succeeded" });
  });

  test("are refused when a schema has another order of keys, and not for another description", async () => {
    const { session, lifecycle, config } = durable(echo);
    const { runId, version } = await session.run("go");
    const resume = () => lifecycle.resume(runId, { expectedVersion: version, decision: "approve" });
    config.tools = [{ ...echo, parameters: { properties: { text: { type: "string" } }, type: "object" } }];
    await expect(resume()).rejects.toMatchObject({ code: "ERR_PRISM_AGENT_RUN_STATE" });
    config.tools = [{ ...echo, description: "other" }];
    await expect(resume()).resolves.toMatchObject({ status: "succeeded" });
  });
});

describe("sessions", () => {
  test("have one run at a time, and a stream that throws what its run failed with", async () => {
    const session = createAgentSession({
      provider: createScriptedProvider([
        () => {
          throw new Error("the provider fails");
        },
      ]),
      tools: [],
    });
    const first = session.stream("go");
    await first.next();
    await expect(session.run("again")).rejects.toThrow("under way");
    const types: string[] = [];
    await expect(
      (async () => {
        for await (const { type } of first) types.push(type);
      })(),
    ).rejects.toMatchObject({ name: "AgentRunError" });
    expect(types.at(-1)).toBe("error");
    expect(session.subscribers).toBe(0);
  });

  test("hand on what is steered in before the next turn, and no more than eight messages", async () => {
    const provider = createScriptedProvider([{ calls: [{ id: "c1", name: "echo" }] }]);
    let refusal: unknown;
    const tool = failing(async (args, context) => {
      for (let n = 0; n < 8; n++) await session.steer(`note ${n}`);
      refusal = await session.steer("note 8").catch((error: unknown) => error);
      return echo.execute(args, context);
    });
    const session = createAgentSession({ provider, tools: [tool] });
    await session.run("go");
    expect(provider.requests[1]?.messages.filter(({ text }) => text.startsWith("note"))).toHaveLength(8);
    expect(refusal).toMatchObject({ message: expect.stringContaining("too much") });
  });

  test("do not race a tool against an abort: its late result is kept, and then the run ends", async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const tool = failing(async (args, context) => {
      session.abort();
      await held;
      return echo.execute(args, context);
    });
    const session = createAgentSession({ provider: twoTurns("echo"), tools: [tool] });
    const events = session.subscribe();
    const run = session.run("go");
    run.catch(() => undefined);
    resolve();
    await expect(run).rejects.toMatchObject({ status: "aborted" });
    const types: string[] = [];
    for await (const { type } of events) {
      types.push(type);
      if (type === "error") break;
    }
    expect(types.slice(-2)).toEqual(["tool_execution_finished", "error"]);
  });

  test("lose everything that was queued when a subscriber of the policy close is too slow", async () => {
    const session = createAgentSession({ provider: createScriptedProvider([{ text: "hi" }]), tools: [] });
    const events = session.subscribe({ maxQueuedEvents: 2 });
    await session.run("go");
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    expect(types).toEqual(["event_subscriber_overflow"]);
  });
});
