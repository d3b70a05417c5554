import type { RunAgentInput } from "@ag-ui/client";
import type { AgUiMessage } from "@human-plus/adapter-ag-ui";
import {
  type SurfaceFault,
  SurfaceMiddleware,
  type SurfaceMiddlewareConfig,
} from "@human-plus/adapter-ag-ui/middleware";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { InProcessAgent, runInProcess, type Speech } from "./parts/in-process-agent.ts";
import { calls, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";

const start = ({ threadId, runId }: RunAgentInput) => ({ type: "RUN_STARTED", threadId, runId });
const finish = ({ threadId, runId }: RunAgentInput) => ({ type: "RUN_FINISHED", threadId, runId });
const count = (id: string, who = id) => calls(id, "surface__canvas_count", { who });

/** A canvas that counts what reaches it, and a middleware on it whose problems are kept. */
async function startCounting(config: Partial<SurfaceMiddlewareConfig> = {}) {
  const canvas = await startLiveCanvas();
  const counted: string[] = [];
  const offer = (name: string) =>
    canvas.surface.tool({
      name,
      touches: "none",
      handler: ({ who }) => `counted ${counted.push(`${name} ${who}`)}`,
    });
  const withdraw = offer("canvas_count");
  const problems: string[] = [];
  const onError = ({ stage, error }: SurfaceFault) => void problems.push(`${stage}: ${(error as Error).message}`);
  const session = await canvas.join();
  const middleware = new SurfaceMiddleware({ surface: session, onError, ...config });
  return {
    canvas,
    session,
    counted,
    offer,
    withdraw,
    problems,
    middleware,
    async [Symbol.asyncDispose]() {
      middleware.close();
      await canvas[Symbol.asyncDispose]();
    },
  };
}

/** Says this in its first round, and is done in the second. */
function once(first: (input: RunAgentInput) => readonly unknown[]): InProcessAgent {
  const speech: Speech = (input, turn) =>
    turn === 1 ? first(input) : [start(input), ...says(`done${turn}`, "Done"), finish(input)];
  return new InProcessAgent(speech);
}

describe("what an agent says after its run ended", () => {
  test.each([
    ["finished", (input: RunAgentInput) => [start(input), ...count("c1"), finish(input), ...count("c2")], ["c1"]],
    ["failed", (input: RunAgentInput) => [start(input), { type: "RUN_ERROR", message: "no" }, ...count("c2")], []],
  ])("when it %s is not acted on, and is told", async (_, stream, made) => {
    await using counting = await startCounting();
    const { answers } = await runInProcess(counting.middleware, once(stream));
    expect(Object.keys(answers)).toEqual(made);
    expect(counting.counted).toEqual(made.map((id) => `canvas_count ${id}`));
    // The run may be over for the host by then, and nobody listens any more.
    if (made.length > 0) expect(counting.problems[0]).toMatch(/^agent: .*"TOOL_CALL_START" after its run had ended/);
  });
});

test("what an agent says that is no event is left out, and told once in a run", async () => {
  await using counting = await startCounting();
  const stream = (input: RunAgentInput) => [
    null,
    start(input),
    7,
    "RUN_FINISHED",
    {},
    { type: {} },
    ...count("c1"),
    undefined,
    finish(input),
  ];
  for (const runId of ["r1", "r2"]) {
    counting.problems.length = 0;
    const { answers, error } = await runInProcess(counting.middleware, once(stream), { runId });
    expect([Object.keys(answers), error]).toEqual([["c1"], undefined]);
    expect(counting.problems).toEqual([expect.stringMatching(/^agent: .*no event/)]);
  }
});

describe("a run that ends in the middle", () => {
  test("of a call fails, and nothing is called", async () => {
    await using counting = await startCounting();
    const agent = once((input) => [start(input), ...count("c1"), ...count("c2").slice(0, 3), finish(input)]);
    const { types, answers } = await runInProcess(counting.middleware, agent);
    expect(counting.counted).toEqual([]);
    expect(Object.keys(answers)).toEqual(["c1"]);
    expect(answers["c1"]).toMatch(/the run failed before it. Nothing was written/);
    expect(types.slice(-2)).toEqual(["TOOL_CALL_END", "RUN_ERROR"]);
  });

  test("of a text goes on, with the text ended", async () => {
    await using counting = await startCounting();
    const text = says("m", "x").slice(0, 2);
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1 ? [{ type: "STEP_STARTED", stepName: "s" }, ...count("c1"), ...text] : says("done", "Done"),
    );
    const { answers, types } = await runWithSurface({ url: agent.url, middleware: counting.middleware });
    expect(Object.keys(answers)).toEqual(["c1"]);
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect(counting.problems).toEqual([expect.stringMatching(/^agent: .*open; they were ended for it/)]);
  });
});

describe("calls of one round", () => {
  test("are made as many as the option says; the others are answered with the reason, and the run goes on", async () => {
    await using counting = await startCounting({ maxCallsPerRound: 3 });
    const ids = Array.from({ length: 8 }, (_, index) => `c${index}`);
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1 ? ids.flatMap((id) => count(id)) : turn === 2 ? count("again", "c3") : says("m", "Done"),
    );
    const { answers, types } = await runWithSurface({ url: agent.url, middleware: counting.middleware });
    expect(Object.keys(answers)).toEqual([...ids, "again"]);
    for (const id of ids.slice(3))
      expect(answers[id]).toMatch(/not made: no more than 3 calls .* in one round. Nothing was written/);
    expect(counting.counted).toEqual(["c0", "c1", "c2", "c3"].map((who) => `canvas_count ${who}`));
    expect(agent.inputs[1]?.messages.filter(({ role }) => role === "tool")).toHaveLength(8);
    expect(types.at(-1)).toBe("RUN_FINISHED");
  });

  test("that were made before keep their answer, also where no more calls are made", async () => {
    await using counting = await startCounting({ maxCallsPerRound: 1 });
    await using agent = await startScriptedAgent(({ runId, messages }, turn) => {
      if (messages.at(-1)?.role === "tool") return says(`m${turn}`, "Done");
      return runId === "r" ? count("c1") : [...count("c2"), ...count("c1"), ...count("c3")];
    });
    const options = { url: agent.url, middleware: counting.middleware };
    const first = await runWithSurface(options);
    const { answers } = await runWithSurface({ ...options, input: { runId: "r2" } });
    expect(answers).toEqual({
      c1: first.answers["c1"],
      c2: expect.stringMatching(/counted 2/),
      c3: expect.stringMatching(/not made: no more than 1 calls/),
    });
  });
});

describe("what a person did before a model that decides on several calls at once sees it", () => {
  const read = (id: string) => calls(id, "surface__canvas_read");
  const move = (id: string, card: string, x: number) => calls(id, "surface__canvas_move", { card, x, y: x });

  test("is not undone by a write that was decided beside the read that shows it", async () => {
    await using counting = await startCounting();
    const { canvas, middleware } = counting;
    await using agent = await startScriptedAgent((_, turn) => {
      if (turn === 1) return read("r1");
      if (turn === 3) return move("m2", "budget", 2);
      if (turn > 3) return says("m", "Done");
      canvas.personMoves("budget", 7, 7);
      return [...read("r2"), ...move("m1", "budget", 1)];
    });
    const { answers } = await runWithSurface({ url: agent.url, middleware });
    expect(answers["r2"]).toMatch(/"x":7/);
    expect(answers["m1"]).toMatch(/surface_changed_under_you, not_applied\)\. Nothing was written/);
    // It has seen the person's edit by then, and decides again.
    expect(answers["m2"]).toMatch(/moved budget/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 2 });
  });

  test("nor by the second of two writes, the first of which was on something else", async () => {
    await using counting = await startCounting();
    const { canvas, middleware } = counting;
    await using agent = await startScriptedAgent((_, turn) => {
      if (turn === 1) return read("r1");
      if (turn > 2) return says("m", "Done");
      canvas.personMoves("budget", 7, 7);
      return [...move("m1", "travel", 1), ...move("m2", "budget", 3)];
    });
    const { answers } = await runWithSurface({ url: agent.url, middleware });
    expect(answers["m1"]).toMatch(/moved travel/);
    expect(answers["m2"]).toMatch(/surface_changed_under_you, not_applied/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
  });

  test("nor by a run of another thread that read the same session meanwhile", async () => {
    await using counting = await startCounting();
    const { canvas, middleware, session } = counting;
    await using agent = await startScriptedAgent(async (_, turn) => {
      if (turn === 1) return read("r1");
      if (turn > 2) return says("m", "Done");
      canvas.personMoves("budget", 7, 7);
      await session.call("canvas_read");
      return move("m1", "budget", 1);
    });
    const { answers } = await runWithSurface({ url: agent.url, middleware });
    expect(answers["m1"]).toMatch(/surface_changed_under_you, not_applied/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
  });
});

describe("a tool that is offered no more", () => {
  const history = (name: string): AgUiMessage[] => [
    { id: "u1", role: "user", content: "Count" },
    { id: "a1", role: "assistant", toolCalls: [{ id: "h1", type: "function", function: { name, arguments: "{}" } }] },
    { id: "t1", role: "tool", toolCallId: "h1", content: "counted 1" },
    { id: "u2", role: "user", content: "Again" },
  ];

  test("and that a history names is not called; the call is answered, and the run goes on", async () => {
    await using counting = await startCounting();
    counting.withdraw();
    const messages = history("surface__canvas_count");
    await using agent = await startScriptedAgent((_, turn) => (turn === 1 ? count("c1") : says("m", "Done")));
    const options = { url: agent.url, middleware: counting.middleware };
    const { answers, types } = await runWithSurface({ ...options, input: { messages } });
    expect(answers["c1"]).toMatch(/offers no tool "surface__canvas_count" in this run.*Nothing was written/);
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect(agent.inputs).toHaveLength(2);
  });

  test("gives its name to no other tool of the thread, whatever the surface calls it", async () => {
    await using counting = await startCounting();
    const names: Record<string, string> = {};
    await using agent = await startScriptedAgent(({ tools = [], messages }) => {
      for (const { name, description } of tools) names[name] = description;
      const last = messages.at(-1);
      return last?.role === "tool" ? says(crypto.randomUUID(), "Done") : calls(crypto.randomUUID(), "surface__a_b");
    });
    const run = (runId: string) =>
      runWithSurface({ url: agent.url, middleware: counting.middleware, input: { runId } });
    const known = new Set<string>();
    let withdraw = counting.offer("a_b");
    for (const [runId, name] of [
      ["r1", "a.b"],
      ["r2", "a:b"],
      ["r3", "a_b"],
    ] as const) {
      withdraw();
      withdraw = counting.offer(name);
      await counting.session.tools({ fresh: true });
      await run(runId);
      known.add(name);
    }
    // Only the tool of that very name was ever called by it.
    expect(counting.counted).toEqual(["a_b undefined"]);
    expect(Object.keys(names).filter((name) => name.startsWith("surface__a_b"))).toHaveLength(3);
  });

  test("whose name the page has for a tool of its own is the page's to answer", async () => {
    await using counting = await startCounting();
    counting.withdraw();
    await using agent = await startScriptedAgent(() => count("c1"));
    const tools = [{ name: "surface__canvas_count", description: "theirs", parameters: { type: "object" } }];
    const options = { url: agent.url, middleware: counting.middleware };
    const { answers } = await runWithSurface({ ...options, input: { tools } });
    expect(answers).toEqual({});
    expect(agent.inputs).toHaveLength(1);
  });
});
