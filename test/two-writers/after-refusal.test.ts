import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";

test("after a refusal the feed tells what the refused call had missed, whatever was called in between", async () => {
  await using canvas = await startLiveCanvas();
  const agent = await canvas.join();
  await agent.call("canvas_read");
  canvas.personMoves("budget", 1, 1);
  canvas.personMoves("travel", 1, 1);
  await expect(agent.call("canvas_move", { card: "budget", x: 5, y: 5 })).rejects.toMatchObject({
    code: "surface_changed_under_you",
  });
  // Not pinned any more, so it is written, and its marker is of a time after both moves.
  canvas.cards.set("notes", { title: "Notes", x: 0, y: 0 });
  await agent.call("canvas_move", { card: "notes", x: 5, y: 5 });
  await agent.call("canvas_move", { card: "notes", x: 6, y: 6 });
  const report = await agent.changesSince();
  expect(report.nothingChanged).toBe(false);
  expect(report.deferTo.map(({ handle }) => handle)).toEqual(["budget", "travel"]);
  expect((await agent.changesSince()).nothingChanged).toBe(true);
});

test("without a refusal, what was read is not told again", async () => {
  await using canvas = await startLiveCanvas();
  const agent = await canvas.join();
  await agent.call("canvas_read");
  canvas.personMoves("budget", 1, 1);
  await agent.call("canvas_read");
  expect((await agent.changesSince()).nothingChanged).toBe(true);
});
