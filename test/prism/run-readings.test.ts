import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { call, startPrismAgent, transports } from "./parts/prism-agent.ts";

const [[, createTransport]] = transports;
const move = (id: string, card: string, x: number) => call(id, "canvas_move", { card, x, y: 1 });

/** A model that has read the board, and then decides on a read and a write at once, after a person moved a card. */
async function readsAndWrites({ follows }: { readonly follows: boolean }) {
  await using canvas = await startLiveCanvas();
  await using agent = await startPrismAgent({
    surface: canvas,
    createTransport,
    toolset: { changes: true },
    steps: [
      { calls: [call("c1", "canvas_read")] },
      async () => {
        canvas.personMoves("budget", 7, 7);
        return { calls: [call("c2", "canvas_read"), move("c3", "budget", 1), move("c4", "travel", 2)] };
      },
      { calls: [move("c5", "budget", 3)] },
    ],
  });
  const stop = follows ? agent.toolset.follow(agent.session) : undefined;
  await agent.session.run("go");
  stop?.();
  const placeOf = (card: string) => canvas.cards.get(card)?.x;
  const failed = agent.of("tool_execution_error").map((event) => event.call.id);
  return { failed, budget: placeOf("budget"), travel: placeOf("travel"), said: agent.provider.read("c3") };
}

test("what a model reads beside a write was not read when it decided on the write", async () => {
  const { failed, said, budget, travel } = await readsAndWrites({ follows: true });
  expect(failed).toEqual(["c3"]);
  expect(said).toMatch(/surface_changed_under_you/);
  expect({ budget, travel }).toEqual({ budget: 3, travel: 2 }); // with what it had been shown by then
});

test("without following the session, the write goes over what the person did", async () => {
  const { failed, budget } = await readsAndWrites({ follows: false });
  expect({ failed, budget }).toEqual({ failed: [], budget: 3 });
});

test("each run of a session begins with what has been read through the attachment", async () => {
  await using canvas = await startLiveCanvas();
  await using agent = await startPrismAgent({
    surface: canvas,
    createTransport,
    steps: [
      { calls: [call("c1", "canvas_read")] },
      { text: "done" },
      { calls: [move("c2", "budget", 1)] },
      { text: "done" },
    ],
  });
  using _following = { [Symbol.dispose]: agent.toolset.follow(agent.session) };
  await agent.session.run("go");
  canvas.personMoves("budget", 7, 7);
  await agent.humanPlus.turn("me", agent.attachmentId);
  await agent.session.run("again");
  expect(agent.of("tool_execution_error")).toEqual([]);
  expect(canvas.cards.get("budget")?.x).toBe(1);
});

test("what follows a session ends with the set, and leaves no subscription", async () => {
  await using canvas = await startLiveCanvas();
  await using agent = await startPrismAgent({ surface: canvas, createTransport, steps: [{ text: "done" }] });
  const before = agent.session.subscribers;
  agent.toolset.follow(agent.session);
  agent.toolset.follow(agent.session);
  expect(agent.session.subscribers).toBe(before + 1);
  await agent.toolset.close();
  expect(agent.session.subscribers).toBe(before);
  expect(() => agent.toolset.follow(agent.session)).toThrow(expect.objectContaining({ code: "closed" }));
  expect(() => agent.toolset.follow({} as never)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});
