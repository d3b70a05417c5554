import {
  type HumanPlusError,
  type JsonObject,
  type Reading,
  type RelayTransport,
  type SurfaceSession,
  TrustPolicy,
} from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";
import { expect, test } from "vitest";
import { type LiveCanvas, startLiveCanvas } from "./parts/live-canvas.ts";

const read = ["canvas_read", {}] as const;
const move = (card: string, x: number) => ["canvas_move", { card, x, y: 1 }] as const;
const refused = "surface_changed_under_you, not_applied";

type Calls = ReadonlyArray<readonly [string, JsonObject]>;

/** What a model decided on in one answer: all of it is called before the model sees what any of it gave. */
async function step(board: SurfaceSession, reading: Reading, calls: Calls): Promise<string[]> {
  const became: string[] = [];
  for (const [tool, args] of calls) {
    const call = board.call(tool, args, { reading });
    became.push(
      await call.then(
        () => "done",
        ({ code, outcome }: HumanPlusError) => `${code}, ${outcome}`,
      ),
    );
  }
  reading.advance();
  return became;
}

/** A model that has read the board once. */
async function begin(canvas: LiveCanvas, options: Parameters<LiveCanvas["join"]>[0] = {}) {
  const board = await canvas.join(options);
  await board.call(...read);
  return { board, reading: await board.reading() };
}

const placeOf = (canvas: LiveCanvas, card: string) => canvas.cards.get(card)?.x;

test("a write is pinned to what was read when it was decided, whatever was read beside it", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  expect(await step(board, reading, [read, move("budget", 1), move("travel", 2)])).toEqual(["done", refused, "done"]);
  expect([placeOf(canvas, "budget"), placeOf(canvas, "travel")]).toEqual([7, 2]);
  expect(await step(board, reading, [read])).toEqual(["done"]);
  expect(await step(board, reading, [move("budget", 1)])).toEqual(["done"]);
});

test("without a reading, what was read beside a write counts as read", async () => {
  await using canvas = await startLiveCanvas();
  const { board } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  await board.call(...read);
  await board.call(...move("budget", 1));
  expect(placeOf(canvas, "budget")).toBe(1);
});

test("writes that were decided together do not refuse each other, as long as nobody else writes", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  const calls: Calls = [move("budget", 1), move("budget", 2), read, move("budget", 3), move("travel", 4)];
  expect(await step(board, reading, calls)).toEqual(["done", "done", "done", "done", "done"]);
  canvas.personMoves("budget", 7, 7);
  expect(await step(board, reading, [move("travel", 5), move("budget", 5), move("travel", 6)])).toEqual([
    "done",
    refused,
    refused, // its own write is not told from those of others once there are some
  ]);
  expect([placeOf(canvas, "budget"), placeOf(canvas, "travel")]).toEqual([7, 5]);
});

test("after a refusal, a write that is decided together with the read that it needs is refused again", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  expect(await step(board, reading, [move("budget", 1)])).toEqual([refused]);
  expect(reading.marker).toBeUndefined();
  expect(await step(board, reading, [read, move("budget", 1)])).toEqual(["done", refused]);
  expect(await step(board, reading, [move("budget", 1)])).toEqual(["done"]);
});

test("what another conversation of the same agent has read is not read by this one", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  const other = await board.reading();
  expect(await step(board, other, [read])).toEqual(["done"]);
  expect(await step(board, reading, [move("budget", 1)])).toEqual([refused]);
  // The refusal was of one conversation: what the attachment has read stays stored.
  expect((await board.status()).pin).toMatchObject({ tool: "canvas_read", isRefused: false });
  expect(await step(board, other, [move("budget", 2)])).toEqual(["done"]);
});

test("begins with what was read through the attachment, or with what it was refused", async () => {
  await using canvas = await startLiveCanvas();
  const { board } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  await expect(board.call(...move("budget", 1))).rejects.toMatchObject({ code: "surface_changed_under_you" });
  expect(await step(board, await board.reading(), [read, move("budget", 1)])).toEqual(["done", refused]);
  await board.turn();
  expect(await step(board, await board.reading(), [move("budget", 1)])).toEqual(["done"]);
});

test("a report counts as read once the model has been shown it, and tells since what it had read", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  await board.changesSince(); // for another conversation
  const report = await board.changesSince({ reading });
  expect(report.handles).toEqual(["budget"]);
  expect(await step(board, reading, [move("budget", 1)])).toEqual([refused]);
  expect(await step(board, reading, [move("budget", 1)])).toEqual(["done"]);
  expect((await board.changesSince({ reading })).nothingChanged).toBe(true);
  const both = board.changesSince({ reading, since: "r1" });
  await expect(both).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringContaining("since") });
});

test("after a refusal a report tells what was missed", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  canvas.personMoves("budget", 7, 7);
  expect(await step(board, reading, [move("budget", 1)])).toEqual([refused]);
  expect((await board.changesSince({ reading })).handles).toEqual(["budget"]);
  reading.advance();
  expect(await step(board, reading, [move("budget", 1)])).toEqual(["done"]);
});

test("of a surface whose feed may not be asked, nothing that came beside it counts as read", async () => {
  await using canvas = await startLiveCanvas();
  const trust = TrustPolicy.allowing(["canvas_read", "canvas_move"]);
  const { board, reading } = await begin(canvas, { trust });
  expect(await step(board, reading, [move("budget", 1), move("travel", 1)])).toEqual(["done", "done"]);
  expect(await step(board, reading, [move("budget", 2), move("budget", 3)])).toEqual(["done", refused]);
  expect(await step(board, reading, [read])).toEqual(["done"]);
  expect(await step(board, reading, [move("budget", 3)])).toEqual(["done"]);
});

test("costs a look at the feed for each call behind a write of the same step, and nothing otherwise", async () => {
  await using canvas = await startLiveCanvas();
  const asked: string[] = [];
  const transport = createSseTransport({ egress: { unverified: true } });
  const counting: RelayTransport = Object.assign(Object.create(transport) as RelayTransport, {
    exchange(...[link, request, options]: Parameters<RelayTransport["exchange"]>) {
      if (request.method === "tools/call") asked.push(String((request.params as JsonObject)["name"]));
      return transport.exchange(link, request, options);
    },
  });
  const board = await canvas.createClient({ transport: counting }).attach({
    owner: "me",
    invitation: canvas.invitation,
    participant: { name: "Tidy" },
    trust: TrustPolicy.everyTool(),
  });
  await board.call(...read);
  const reading = await board.reading();
  await step(board, reading, [read, read]);
  await step(board, reading, [move("budget", 1)]);
  await step(board, reading, [move("budget", 2), move("travel", 2)]);
  const looks = () => asked.filter((tool) => tool === "changes_since").length;
  expect(looks()).toBe(1);
  canvas.personMoves("budget", 7, 7);
  await step(board, reading, [move("travel", 3), move("budget", 3), move("budget", 4)]);
  expect(looks()).toBe(2);
});

test("an aborted call behind a write of the same step was not made", async () => {
  await using canvas = await startLiveCanvas();
  const { board, reading } = await begin(canvas);
  await board.call(...move("budget", 1), { reading });
  const abort = new AbortController();
  const call = board.call(...move("budget", 2), { reading, signal: abort.signal });
  abort.abort();
  await expect(call).rejects.toMatchObject({ code: "aborted", outcome: "not_applied" });
  expect(placeOf(canvas, "budget")).toBe(1);
});

test("is refused where it is of another attachment, of an earlier one, or none", async () => {
  await using canvas = await startLiveCanvas();
  const client = canvas.createClient();
  const attach = (id: string) =>
    client.attach({
      owner: "me",
      id,
      invitation: canvas.invitation,
      participant: { name: "Tidy" },
      trust: TrustPolicy.everyTool(),
    });
  const [first, second] = [await attach("a"), await attach("b")];
  const reading = await first.reading();
  const foreign = { code: "attachment_conflict", outcome: "not_applied" };
  await expect(second.call(...read, { reading })).rejects.toMatchObject(foreign);
  await attach("a");
  await expect(first.call(...read, { reading })).rejects.toMatchObject(foreign);
  await expect(second.call(...read, { reading: {} as Reading })).rejects.toMatchObject({ code: "invalid_argument" });
});
