import { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { createHumanPlus, TrustPolicy } from "@human-plus/core";
import { createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseTransport } from "@human-plus/transport-sse";
import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { clients } from "./parts/clients.ts";
import { calls, says, startScriptedAgent } from "./parts/scripted-agent.ts";
import { runWithSurface } from "./parts/surface-runs.ts";

const toolCall = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
const message = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];

describe.each([...clients.keys()])("an agent of client %s", (version) => {
  test("is offered the surface's tools, calls them, and goes on in the same run", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1
        ? [...says("m1", "Looking"), ...calls("c1", "surface__canvas_read")]
        : turn === 2
          ? calls("c2", "surface__canvas_move", { card: "budget", x: 40, y: 40 })
          : says("m3", "Done"),
    );
    const { types, answers, messages, events } = await runWithSurface({ url: agent.url, middleware, version });
    expect(types).toEqual([
      "RUN_STARTED",
      ...message,
      ...toolCall,
      "TOOL_CALL_RESULT",
      ...toolCall,
      "TOOL_CALL_RESULT",
      ...message,
      "RUN_FINISHED",
    ]);
    expect(answers["c1"]).toMatch(/^<surface-data source="canvas\/board" tool="canvas_read"[\s\S]*Budget/);
    expect(answers["c2"]).toMatch(/moved budget/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 40, y: 40 });
    expect(messages.filter(({ role }) => role !== "activity").map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(events.some(({ type }) => type === "ACTIVITY_SNAPSHOT")).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", threadId: "t", runId: "r" });

    const [first, second, third] = agent.inputs;
    expect(first?.tools?.map(({ name }) => name).sort()).toEqual([
      "surface__canvas_move",
      "surface__canvas_read",
      "surface__changes_since",
    ]);
    expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "tool"]);
    expect(third?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
    expect(new Set(agent.inputs.map(({ runId }) => runId)).size).toBe(3);
    expect(new Set(agent.inputs.map(({ threadId }) => threadId))).toEqual(new Set(["t"]));
  });

  test("is told what stands against a write on what a person just moved, and goes on elsewhere", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent((_, turn) => {
      if (turn === 1) return calls("c1", "surface__canvas_read");
      if (turn > 2) return says("m", "I leave it");
      canvas.personMoves("budget", 7, 7);
      return calls("c2", "surface__canvas_move", { card: "budget", x: 1, y: 1 });
    });
    const { answers } = await runWithSurface({ url: agent.url, middleware, version });
    expect(answers["c2"]).toMatch(/surface_changed_under_you, not_applied\)\. Nothing was written/);
    expect(answers["c2"]).toMatch(/"budget"[^\n]*moved by a person/);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7, y: 7 });
    expect(agent.inputs).toHaveLength(3);
  });

  test("hands over to the page when it also called a tool of the page", async () => {
    await using canvas = await startLiveCanvas();
    using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
    await using agent = await startScriptedAgent((_, turn) =>
      turn === 1
        ? [
            ...calls("c1", "surface__canvas_read"),
            ...calls("p1", "open_dialog"),
            ...calls("c2", "surface__canvas_read"),
          ]
        : says("m", "Done"),
    );
    const input = { tools: [{ name: "open_dialog", description: "", parameters: { type: "object" } }] };
    const first = await runWithSurface({ url: agent.url, middleware, version, input });
    expect(Object.keys(first.answers)).toEqual(["c1", "c2"]);
    expect(agent.inputs).toHaveLength(1);
    const said = first.messages.filter(({ role }) => role !== "activity");
    const answered = [...said, { id: "x", role: "tool", toolCallId: "p1", content: "opened" } as const];
    const second = await runWithSurface({
      url: agent.url,
      middleware,
      version,
      input: { ...input, runId: "r2", messages: answered },
    });
    expect(second.types).toEqual(["RUN_STARTED", ...message, "RUN_FINISHED"]);
  });
});

describe.each([
  ["event streams", createSseTransport],
  ["long polls", createLongPollTransport],
] as const)("over %s", (_, createTransport) => {
  test("calls that an agent makes at once are made one after another, so that none refuses the other", async () => {
    await using canvas = await startLiveCanvas();
    const client = createHumanPlus({ transport: createTransport({ egress: { unverified: true } }) });
    const session = await client.attach({
      owner: "me",
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
    using middleware = new SurfaceMiddleware({ surface: session });
    await using agent = await startScriptedAgent((_input, turn) =>
      turn === 1
        ? [1, 2, 3].flatMap((n) => calls(`c${n}`, "surface__canvas_move", { card: "budget", x: n, y: n }))
        : says("m", "Done"),
    );
    const { answers, messages } = await runWithSurface({ url: agent.url, middleware });
    for (const id of ["c1", "c2", "c3"]) expect(answers[id]).toMatch(/moved budget/);
    expect(Object.keys(answers)).toEqual(["c1", "c2", "c3"]);
    expect(canvas.cards.get("budget")).toMatchObject({ x: 3, y: 3 });
    expect(agent.inputs[1]?.messages.map(({ role }) => role)).toEqual([
      "user",
      ...["assistant", "tool", "assistant", "tool", "assistant", "tool"],
    ]);
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(3);
    await client.close();
  });
});
