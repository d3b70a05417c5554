import { describe, expect, test } from "vitest";
import { startLiveCanvas } from "./parts/live-canvas.ts";

const move = { card: "budget", x: 1, y: 1 };

describe("changes that are looked up from a marker", () => {
  test("stay news for the agent, whose calls stay pinned to what it read", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    const { revision = "" } = await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    const rows = [expect.objectContaining({ handle: "budget", actor: "human" })];
    expect(await agent.changesSince({ since: revision })).toMatchObject({ complete: true, changes: rows });
    await expect(agent.call("canvas_move", move)).rejects.toMatchObject({ code: "surface_changed_under_you" });
    expect((await agent.turn()).leaveAlone).toEqual(["budget"]);
  });

  test("reach back further than what the agent last read", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    const { revision = "" } = await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    await agent.changesSince();
    expect(await agent.changesSince()).toMatchObject({ nothingChanged: true });
    expect((await agent.changesSince({ since: revision })).handles).toEqual(["budget"]);
    expect(await agent.changesSince()).toMatchObject({ nothingChanged: true });
  });

  test("show the feed to tell hands apart", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    const { revision = "" } = await agent.call("canvas_read");
    canvas.personMoves("budget", 5, 5);
    await agent.changesSince({ since: revision });
    expect(await agent.changeFeed()).toMatchObject({ state: "attributed" });
  });

  test.each([[""], ["x".repeat(513)], [7]])("need a marker, not %j", async (since) => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    await expect(agent.changesSince({ since: since as string })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("since"),
    });
  });
});

describe("the pin of an attachment", () => {
  test("is what calls are pinned to, and after a refusal what was refused, until the next reading", async () => {
    await using canvas = await startLiveCanvas();
    const agent = await canvas.join();
    expect((await agent.status()).pin).toBeUndefined();
    const { revision: marker } = await agent.call("canvas_read");
    expect((await agent.status()).pin).toMatchObject({ marker, tool: "canvas_read", isRefused: false });
    canvas.personMoves("budget", 5, 5);
    await expect(agent.call("canvas_move", move)).rejects.toMatchObject({ code: "surface_changed_under_you" });
    expect((await agent.status()).pin).toMatchObject({ marker, isRefused: true });
    const { revision: next } = await agent.call("canvas_read");
    expect((await agent.status()).pin).toMatchObject({ marker: next, isRefused: false });
  });
});
