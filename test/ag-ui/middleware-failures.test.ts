import {
  type SurfaceFault,
  SurfaceMiddleware,
  type SurfaceMiddlewareConfig,
} from "@human-plus/adapter-ag-ui/middleware";
import { TrustPolicy } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { startScriptedSurface } from "../parts/scripted-surface.ts";
import { completeInput } from "./judge.ts";
import { runClient } from "./parts/clients.ts";
import { calls, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";
import { cutOff, exempt } from "./taps/recordings.ts";

const ordinary = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

describe("a surface that cannot be had leaves an ordinary answer", () => {
  const cases: ReadonlyArray<readonly [name: string, surface: SurfaceMiddlewareConfig["surface"], stages: string[]]> = [
    ["none for this run", () => undefined, []],
    ["a function that throws", () => Promise.reject(new Error("no")), ["connect"]],
    ["a function that never answers", () => new Promise(() => undefined), ["connect"]],
    ["something that is no session", () => ({}) as never, ["connect"]],
  ];
  test.each(cases)("%s", async (_, surface, stages) => {
    const faults: SurfaceFault[] = [];
    using middleware = new SurfaceMiddleware({
      surface,
      setupTimeoutMs: 50,
      onError: (fault) => void faults.push(fault),
    });
    await using agent = await startScriptedAgent(() => says("m", "Hello"));
    const { types } = await runWithSurface({ url: agent.url, middleware });
    expect(types).toEqual(ordinary);
    expect(agent.inputs[0]).toMatchObject({ tools: [], context: [] });
    expect(faults.map(({ stage }) => stage)).toEqual(stages);
  });

  const hanging = [
    ["tools", "tools"],
    ["turn", "changes"],
    ["reading", "tools"],
    ["watch", "watch"],
  ] as const;
  test.each(hanging)(
    "a session whose %s never answers, as where its store of attachments hangs",
    async (method, stage) => {
      await using canvas = await startLiveCanvas();
      const session = await canvas.join();
      const hangs = new Proxy(session, {
        get(target, key) {
          if (key === method) return () => new Promise(() => undefined);
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const faults: SurfaceFault[] = [];
      using middleware = new SurfaceMiddleware({
        surface: hangs,
        setupTimeoutMs: 300,
        onError: (fault) => void faults.push(fault),
      });
      await using agent = await startScriptedAgent(() => says("m", "Hello"));
      const { types } = await runWithSurface({ url: agent.url, middleware });
      expect(types.filter((type) => !type.startsWith("ACTIVITY_"))).toEqual(ordinary);
      expect(faults).toMatchObject([{ stage, error: { code: "relay_timeout", outcome: "not_applied" } }]);
    },
  );

  test("a page that is gone: the model is told so", async () => {
    await using canvas = await startLiveCanvas();
    const session = await canvas.join();
    await canvas.relay.close();
    const faults: SurfaceFault[] = [];
    using middleware = new SurfaceMiddleware({ surface: session, onError: (fault) => void faults.push(fault) });
    await using agent = await startScriptedAgent(() => says("m", "Hello"));
    const { types, events } = await runWithSurface({ url: agent.url, middleware });
    expect(types).toEqual(ordinary);
    expect(agent.inputs[0]?.tools).toEqual([]);
    expect(agent.inputs[0]?.context).toEqual([
      { description: expect.any(String), value: expect.stringMatching(/cannot be reached now \(relay_unreachable\)/) },
    ]);
    expect(events.find(({ type }) => type === "ACTIVITY_SNAPSHOT")).toMatchObject({ content: { available: false } });
    expect(faults).toMatchObject([{ stage: "tools", threadId: "t", runId: "r", error: { code: "relay_unreachable" } }]);
  });

  test("an attachment without trust: nothing is sent, nothing is offered", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join({ trust: TrustPolicy.undeclared }) });
    await using agent = await startScriptedAgent(() => says("m", "Hello"));
    expect((await runWithSurface({ url: agent.url, middleware })).types).toEqual(ordinary);
    expect(canvas.relay.broker.stats()).toMatchObject({ clients: 0 });
  });

  test("one that says garbage for its tools", async () => {
    await using surface = await startScriptedSurface(({ method }) =>
      method === "tools/list" ? { result: { tools: "many" } } : undefined,
    );
    const session = await surface.createClient().attach({
      owner: "me",
      invitation: surface.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    using middleware = new SurfaceMiddleware({ surface: session });
    await using agent = await startScriptedAgent(() => says("m", "Hello"));
    expect((await runWithSurface({ url: agent.url, middleware })).types).toEqual(ordinary);
  });
});

describe("a call that fails has an answer that says what became of it", () => {
  test("when the relay is lost while it runs: not known", async () => {
    await using canvas = await startLiveCanvas();
    let arrived: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    canvas.surface.tool({
      name: "canvas_wait",
      touches: "none",
      handler: () => {
        arrived();
        return new Promise<string>(() => undefined);
      },
    });
    const faults: SurfaceFault[] = [];
    using middleware = new SurfaceMiddleware({
      surface: await canvas.join(),
      callTimeoutMs: 1_000,
      onError: (fault) => void faults.push(fault),
    });
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1
        ? [...calls("c1", "surface__canvas_wait"), ...calls("c2", "surface__canvas_read")]
        : says("m", "Sorry"),
    );
    void running.then(() => canvas.relay.close());
    const { answers, types } = await runWithSurface({ url: agent.url, middleware });
    expect(answers["c1"]).toMatch(/relay_\w+, unknown\)\. What became of the call is not known/);
    expect(answers["c2"]).toMatch(/Nothing was written/);
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect(faults).toMatchObject([
      { stage: "call", error: { outcome: "unknown" } },
      { stage: "call", error: { outcome: "not_applied" } },
    ]);
  });

  test.each([
    ["no JSON", '{"card":'],
    ["a list", "[1]"],
    ["null", "null"],
    ["empty", ""],
    ["without end", `{"text":"${"x".repeat(300_000)}"}`],
  ])("when its arguments are %s: not called", async (what, args) => {
    if (what !== "without end")
      exempt(/the arguments of c1 are no JSON object/, "they are the agent's, and were sent on before they were whole");
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent((_input, turn) =>
      turn === 1 ? calls("c1", "surface__canvas_move", args) : says("m", "Sorry"),
    );
    const outcome = await runClient({
      version: "1.0.0",
      url: agent.url,
      input: completeInput(),
      middlewares: [middleware],
    });
    expect(outcome.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      content: expect.stringMatching(/was not called: its arguments are no JSON object/),
    });
    expect(outcome.events.at(-1)?.type).toBe("RUN_FINISHED");
  });

  test("when the tool says itself that it failed", async () => {
    await using canvas = await startLiveCanvas();
    canvas.surface.tool({
      name: "canvas_break",
      handler() {
        throw new Error("secret of the page");
      },
      touches: "none",
    });
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1 ? calls("c1", "surface__canvas_break") : says("m", "Sorry"),
    );
    const reported: unknown[] = [];
    const report = globalThis.reportError;
    globalThis.reportError = (error) => void reported.push(error);
    const { answers } = await runWithSurface({ url: agent.url, middleware });
    globalThis.reportError = report;
    expect(answers["c1"]).toMatch(/^The tool says that it failed\.\n<surface-data/);
    expect(answers["c1"]).not.toMatch(/secret/);
  });

  test("when a person has it deferred, or takes control", async () => {
    await using canvas = await startLiveCanvas();
    const session = await canvas.join();
    await session.call("canvas_read");
    canvas.personMoves("budget", 7, 7);
    const handlesOf = (_: string, { card }: Record<string, unknown>) => [String(card)];
    using middleware = new SurfaceMiddleware({ surface: session, protect: true, handlesOf });
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1
        ? [
            ...calls("c1", "surface__canvas_move", { card: "budget", x: 1, y: 1 }),
            ...calls("c2", "surface__canvas_move", { card: "travel", x: 1, y: 1 }),
          ]
        : says("m", "Left it"),
    );
    const { answers } = await runWithSurface({ url: agent.url, middleware });
    expect(answers["c1"]).toMatch(/deferred_to_person, not_applied\)\. Nothing was written/);
    expect(answers["c2"]).toMatch(/moved travel/);
    expect(agent.inputs[0]?.context?.[0]?.value).toMatch(/Changes: 1 by people[\s\S]*"budget"/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
    await session.call("canvas_move", { card: "budget", x: 2, y: 2 }); // the protection ended with the run
  });
});

describe("a run that is given up", () => {
  test("aborts its call at the surface, leaves the agent, and starts nothing more", async () => {
    cutOff("the host gives the run up");
    await using canvas = await startLiveCanvas();
    let aborted: () => void = () => undefined;
    const atSurface = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    let arrived: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    canvas.surface.tool({
      name: "canvas_wait",
      touches: "none",
      handler: (_, call) => {
        call.signal.addEventListener("abort", () => aborted());
        arrived();
        return new Promise<string>(() => undefined);
      },
    });
    const faults: SurfaceFault[] = [];
    using middleware = new SurfaceMiddleware({
      surface: await canvas.join(),
      onError: (fault) => void faults.push(fault),
    });
    await using agent = await startScriptedAgent(() => [
      ...calls("c1", "surface__canvas_wait"),
      ...calls("c2", "surface__canvas_move", { card: "budget", x: 1, y: 1 }),
    ]);
    const input = completeInput();
    const run = runClient({
      version: "1.0.0",
      url: agent.url,
      input,
      middlewares: [middleware],
      onEvent: ({ type }, client) => {
        if (type === "TOOL_CALL_START") void running.then(() => client.detachActiveRun());
      },
    });
    await atSurface;
    const { events } = await run;
    expect(events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toEqual([]);
    expect(agent.inputs).toHaveLength(1);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 0 });
    expect(faults).toEqual([]);
    // What is not known to have ended is not called again, but answered.
    const messages = [
      ...input.messages,
      {
        id: "c1",
        role: "assistant" as const,
        toolCalls: [
          { id: "c1", type: "function" as const, function: { name: "surface__canvas_wait", arguments: "{}" } },
          { id: "c2", type: "function" as const, function: { name: "surface__canvas_move", arguments: "{}" } },
        ],
      },
    ];
    await using next = await startScriptedAgent(() => says("m", "Where was I"));
    const { answers } = await runWithSurface({ url: next.url, middleware, input: { runId: "r2", messages } });
    expect(answers["c1"]).toMatch(/aborted, unknown\)/);
    expect(answers["c2"]).toMatch(/What became of it is not known/);
    expect(next.inputs[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
  });

  test("leaves an agent that is still talking", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent(({ threadId, runId }) => ({
      raw: [{ type: "RUN_STARTED", threadId, runId }],
      stays: true,
    }));
    await runClient({
      version: "1.0.0",
      url: agent.url,
      input: completeInput(),
      middlewares: [middleware],
      onEvent: ({ type }, client) => {
        if (type === "RUN_STARTED") client.abortRun();
      },
    });
    await agent.left;
  });

  test("by closing the agent's request while a call runs makes no other round", async () => {
    await using canvas = await startLiveCanvas();
    let finish: () => void = () => undefined;
    canvas.surface.tool({
      name: "canvas_wait",
      touches: "none",
      handler: () => new Promise<string>((resolve) => (finish = () => resolve("done"))),
    });
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent(() => calls("c1", "surface__canvas_wait"));
    const { events, rejection } = await runClient({
      version: "1.0.0",
      url: agent.url,
      input: completeInput(),
      middlewares: [middleware],
      onEvent({ type }, client) {
        if (type !== "ACTIVITY_DELTA" && type !== "TOOL_CALL_END") return;
        client.abortRun();
        finish();
      },
    });
    expect(rejection).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "abort" });
    expect(agent.inputs).toHaveLength(1);
  });
});

describe("an agent whose own stream goes wrong", () => {
  const cases: ReadonlyArray<readonly [name: string, events: object[], code: string]> = [
    [
      "fails in the middle of everything",
      [
        ...calls("c1", "surface__canvas_read"),
        ...says("m", "x").slice(0, 2),
        { type: "STEP_STARTED", stepName: "s" },
        ...calls("c2", "other").slice(0, 3),
        { type: "RUN_ERROR", message: "no", code: "theirs" },
      ],
      "theirs",
    ],
    [
      "ends without an end",
      [...calls("c1", "surface__canvas_read"), ...says("m", "x").slice(0, 2)],
      "INCOMPLETE_STREAM",
    ],
  ];
  test.each(cases)("%s: open items are closed, calls are answered, and there is one end", async (_, events, code) => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent(({ threadId, runId }) => ({
      raw: [{ type: "RUN_STARTED", threadId, runId }, ...events],
    }));
    const { runError, answers } = await runWithSurface({ url: agent.url, middleware });
    expect(runError?.code).toBe(code);
    expect(answers["c1"]).toMatch(/the run failed before it. Nothing was written/);
  });

  test("says nothing at all: the run fails instead of ending in silence", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent(() => ({ raw: [] }));
    const { types, runError } = await runWithSurface({ url: agent.url, middleware });
    expect(types).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(runError?.code).toBe("INCOMPLETE_STREAM");
  });

  test("names another thread and run: the host gets its own", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent(() => ({
      raw: [
        { type: "RUN_STARTED", threadId: "x", runId: "y" },
        ...says("m", "Hello"),
        { type: "RUN_FINISHED", threadId: "x", runId: "y" },
      ],
    }));
    await runWithSurface({ url: agent.url, middleware });
  });

  test("cannot be reached: the client's run is rejected, as without us", async () => {
    cutOff("there is no stream");
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    const agent = await startScriptedAgent(() => []);
    await agent[Symbol.asyncDispose]();
    const outcome = await runClient({
      version: "1.0.0",
      url: agent.url,
      input: completeInput(),
      middlewares: [middleware],
    });
    expect(outcome.rejection).toMatch(/fetch failed/);
  });
});
