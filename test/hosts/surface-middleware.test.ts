import type { BaseEvent, Message } from "@ag-ui/client";
import { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import type { SurfaceSession } from "@human-plus/core";
import { expect, test } from "vitest";
import { startCanvas } from "./canvas.ts";
import { startCopilot } from "./copilot-runtime.ts";
import { calls, ScriptedAgent, says } from "./scripted-agent.ts";

const asked: Message[] = [{ id: "u1", role: "user", content: "Line up the cards" }];

const types = (events: readonly BaseEvent[]) =>
  events.map(({ type }) => String(type)).filter((type) => !type.startsWith("ACTIVITY_"));

const answersOf = (events: readonly BaseEvent[]): Record<string, string> =>
  Object.fromEntries(
    events.filter(({ type }) => type === "TOOL_CALL_RESULT").map((e) => [e["toolCallId"], e["content"]]),
  );

/** How many rounds of the run the agent has seen: it is told the answer to each of its calls. */
const roundOf = ({ messages }: { messages: readonly Message[] }) =>
  messages.filter(({ role }) => role === "tool").length;

test("an agent in the runtime is offered the surface's tools, calls them, is refused when a person was faster, and goes on", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join() });
  const agent = new ScriptedAgent((input) => {
    switch (roundOf(input)) {
      case 0:
        return calls("c1", "surface__canvas_read", {});
      case 1:
        canvas.personMoves("budget", 7);
        return calls("c2", "surface__canvas_move", { card: "budget", x: 40 });
      case 2:
        return calls("c3", "surface__canvas_move", { card: "travel", x: 50 });
      default:
        return says("m1", "I left Budget where you put it");
    }
  });
  await using copilot = await startCopilot(agent.use(middleware));
  const events = await copilot.run({ threadId: "t1", messages: asked });
  const call = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"];
  const message = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
  expect(types(events)).toEqual(["RUN_STARTED", ...call, ...call, ...call, ...message, "RUN_FINISHED"]);
  expect(events.some(({ type }) => type === "ACTIVITY_SNAPSHOT")).toBe(true);
  expect(agent.inputs[0]?.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["surface__canvas_move", "surface__canvas_read"]),
  );
  const { c1, c2, c3 } = answersOf(events);
  expect(c1).toMatch(/^<surface-data source="canvas\/board" tool="canvas_read"/);
  expect(c2).toMatch(/surface_changed_under_you, not_applied/);
  expect(c2).toMatch(/"budget"[^\n]*moved by a person/);
  expect(c3).toMatch(/moved travel/);
  expect(Object.fromEntries(canvas.cards)).toEqual({ budget: { x: 7 }, travel: { x: 50 } });
});

test("two users on two threads at once stay at their own surfaces, and hear of nothing but those", async () => {
  await using ours = await startCanvas();
  await using theirs = await startCanvas();
  const sessions: Record<string, SurfaceSession> = { ann: await ours.join(), bob: await theirs.join() };
  using middleware = new SurfaceMiddleware({ surface: ({ props }) => sessions[String(props)] });
  const agent = new ScriptedAgent((input) => {
    const x = input.threadId === "ann's" ? 11 : 22;
    const round = roundOf(input);
    if (round === 0) return calls(`read-${x}`, "surface__canvas_read", {});
    if (round < 4) return calls(`move-${x}-${round}`, "surface__canvas_move", { card: "budget", x: x + round });
    return says(`m-${x}`, "Done");
  });
  await using copilot = await startCopilot(agent.use(middleware));
  const run = (user: string) =>
    copilot.run({ threadId: `${user}'s`, messages: asked, forwardedProps: { humanplus: { surface: user } } });
  const [anns, bobs] = await Promise.all([run("ann"), run("bob")]);
  expect(Object.keys(answersOf(anns))).toEqual(["read-11", "move-11-1", "move-11-2", "move-11-3"]);
  expect(Object.keys(answersOf(bobs))).toEqual(["read-22", "move-22-1", "move-22-2", "move-22-3"]);
  expect(ours.cards.get("budget")).toEqual({ x: 14 });
  expect(theirs.cards.get("budget")).toEqual({ x: 25 });

  ours.personMoves("travel", 99);
  agent.inputs.length = 0;
  await Promise.all([run("ann"), run("bob")]);
  const contextOf = (user: string) =>
    JSON.stringify(agent.inputs.find(({ threadId }) => threadId === `${user}'s`)?.context ?? []);
  expect(contextOf("ann")).toMatch(/travel/);
  expect(contextOf("bob")).not.toMatch(/travel/);
});

test("a surface that is gone leaves an ordinary answer", async () => {
  await using canvas = await startCanvas();
  const session = await canvas.join();
  using middleware = new SurfaceMiddleware({ surface: session });
  const agent = new ScriptedAgent(() => says(crypto.randomUUID(), "Hello"));
  await using copilot = await startCopilot(agent.use(middleware));
  await canvas.fail();
  const events = await copilot.run({ threadId: "t1", messages: asked });
  expect(types(events)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
  expect(agent.inputs[0]?.tools).toEqual([]);
});

test("a surface that goes away in mid-run is told to the model, and the run ends as usual", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join(), callTimeoutMs: 3_000 });
  let gone: Promise<void> | undefined;
  const agent = new ScriptedAgent((input) => {
    if (roundOf(input) > 0) return says("m1", "It is gone");
    gone = canvas.fail();
    return calls("c1", "surface__canvas_move", { card: "budget", x: 1 });
  });
  await using copilot = await startCopilot(agent.use(middleware));
  const events = await copilot.run({ threadId: "t1", messages: asked });
  await gone;
  expect(types(events).at(-1)).toBe("RUN_FINISHED");
  expect(answersOf(events)["c1"]).toMatch(/not_applied|unknown/);
});

test("a proposal stops the run for a person, and the run that follows tells the agent what became of it", async () => {
  await using canvas = await startCanvas();
  using middleware = new SurfaceMiddleware({ surface: await canvas.join(), proposals: {} });
  const args = { card: "budget", title: "Costs" };
  const agent = new ScriptedAgent((input) =>
    roundOf(input) === 0 ? calls("c1", "surface__canvas_rename", args) : says("m1", "Done"),
  );
  await using copilot = await startCopilot(agent.use(middleware));
  const stopped = await copilot.run({ threadId: "t1", messages: asked });
  const outcome = stopped.at(-1)?.["outcome"] as { type: string; interrupts: { id: string }[] };
  expect(outcome).toMatchObject({
    type: "interrupt",
    interrupts: [{ reason: "humanplus:proposal", toolCallId: "c1" }],
  });
  expect(canvas.titles).toEqual([]);

  canvas.surface.getSnapshot().proposals[0]?.accept();
  const called: Message = {
    id: "c1-message",
    role: "assistant",
    toolCalls: [
      { id: "c1", type: "function", function: { name: "surface__canvas_rename", arguments: JSON.stringify(args) } },
    ],
  };
  const answer = { interruptId: outcome.interrupts[0]?.id, status: "resolved", payload: { approved: true } };
  const request = { threadId: "t1", messages: [...asked, called], resume: [answer] };
  const resumed = await copilot.run(request);
  expect(answersOf(resumed)["c1"]).toMatch(/^A person accepted the proposal, and it was written/);
  expect(types(resumed).at(-1)).toBe("RUN_FINISHED");
  await copilot.run(request);
  expect(canvas.titles).toEqual(["Costs"]);
});
