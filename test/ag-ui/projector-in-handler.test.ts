import { createSurfaceProjector, observeSession } from "@human-plus/adapter-ag-ui";
import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { assertGood } from "./judge.ts";
import { says } from "./parts/scripted-agent.ts";

test("an agent behind the handler shows beside its words what happens on the surface that it works on", async () => {
  await using canvas = await startLiveCanvas();
  using board = observeSession(await canvas.join());
  using projector = createSurfaceProjector({ surface: board, coalesceMs: 0, state: true });
  const told: unknown[] = [];
  async function* work(threadId: string) {
    told.push(projector.withContext(threadId, []));
    await board.call("canvas_read");
    yield* says("m1", "Looking");
    canvas.personMoves("budget", 7, 7);
    await board.call("canvas_move", { card: "budget", x: 1, y: 1 }).catch(() => undefined);
    await board.turn();
    yield* says("m2", "I leave it where you put it");
  }
  const handler = createAgUiHandler<object, object>({
    authorize: () => ({}),
    run: ({ threadId }) => work(threadId),
    projection: projector,
    input: { project: ({ input }) => input },
  });
  const inputOf = (version: string) => ({ threadId: `t-${version}`, state: { theirs: 1 } });
  const { clients } = await assertGood({ handler }, { inputOf });
  for (const { version, messages, state } of clients) {
    const shown = messages.find(({ role }) => role === "activity");
    expect(shown).toMatchObject({ id: `humanplus-surface-t-${version}`, activityType: "humanplus.surface" });
    expect(state).toMatchObject({ theirs: 1, humanplus: { surface: "surface", available: true } });
    expect(state).toMatchObject({ humanplus: (shown as { content: object }).content });
  }
  expect(projector.content()).toMatchObject({ calls: { finished: 3, refused: 3 }, changes: { human: 3 } });
  expect(told[0]).toEqual([]);
  expect(told[1]).toMatchObject([{ value: expect.stringMatching(/Changes: 1 by people/) }]);
});
