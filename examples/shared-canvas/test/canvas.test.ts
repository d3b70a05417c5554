import { createSurface, type Surface } from "@human-plus/surface";
import { describe, expect, test } from "vitest";
import { type Canvas, createCanvas } from "../src/page/canvas.ts";
import { type CanvasStore, createCanvasStore } from "../src/page/canvas-store.ts";
import { offerCanvasTools } from "../src/page/canvas-tools.ts";

interface Reply {
  readonly result?: {
    readonly content: readonly { readonly text: string }[];
    readonly isError: boolean;
    readonly structuredContent?: Record<string, unknown>;
    readonly _meta: { readonly revision: string };
  };
  readonly error?: { readonly data?: { readonly code?: string } };
}

interface Stage {
  readonly store: CanvasStore;
  readonly surface: Surface;
  readonly canvas: Canvas;
  /** Calls a tool as an agent does, pinned to a revision if one is given. */
  call(name: string, args?: object, revision?: string): Promise<Reply>;
}

function startStage(): Stage {
  const store = createCanvasStore([
    { handle: "a", title: "Alpha", text: "", x: 100, y: 100 },
    { handle: "b", title: "Beta", text: "", x: 400, y: 100 },
  ]);
  const surface = createSurface({ id: "surface", application: "canvas", fingerprint: () => store.state.cards });
  const waiting = new Map<string, (reply: Reply) => void>();
  const channel = surface.open((text) => {
    const { id, ...reply } = JSON.parse(text);
    waiting.get(id)?.(reply);
  });
  offerCanvasTools({ store, surface });
  let count = 0;
  return {
    store,
    surface,
    canvas: createCanvas({ store, surface }),
    call(name, args = {}, revision = undefined) {
      const id = `r${++count}`;
      const params = { name, arguments: args, _meta: revision === undefined ? {} : { revision } };
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        channel.receive(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
      });
    },
  };
}

const textOf = ({ result }: Reply) => result?.content[0]?.text;

describe("what agents may do", () => {
  test("a move pinned to a reading is refused once a person has picked the card up", async () => {
    const { canvas, store, call } = startStage();
    const { result } = await call("canvas_read");
    canvas.pickUp("a");
    const refused = await call("canvas_move", { handle: "a", x: 0, y: 0 }, result?._meta.revision);
    expect(refused.error?.data?.code).toBe("revision_mismatch");
    expect(store.find("a")).toMatchObject({ x: 100, y: 100 });
  });

  test("a card in a person's hand takes no write, however fresh the reading", async () => {
    const { canvas, store, call } = startStage();
    canvas.hold("a");
    const { result } = await call("canvas_read");
    for (const [tool, args] of [
      ["canvas_move", { x: 0, y: 0 }],
      ["canvas_edit", { title: "Mine" }],
    ] as const) {
      const refused = await call(tool, { handle: "a", ...args }, result?._meta.revision);
      expect(refused.result?.isError).toBe(true);
      expect(textOf(refused)).toContain("A person holds this card");
    }
    canvas.release("a");
    expect(store.find("a")).toMatchObject({ title: "Alpha", x: 100, y: 100 });
    expect((await call("canvas_move", { handle: "a", x: 0, y: 0 })).result?.isError).toBe(false);
  });

  test("another card's change refuses nothing", async () => {
    const { canvas, store, call } = startStage();
    const { result } = await call("canvas_read");
    canvas.move("b", { x: 500, y: 300 });
    expect((await call("canvas_move", { handle: "a", x: 8, y: 9 }, result?._meta.revision)).error).toBeUndefined();
    expect(store.find("a")).toMatchObject({ x: 8, y: 9 });
  });

  test("a card is deleted when a person accepts, and not before", async () => {
    const { surface, store, call } = startStage();
    await call("canvas_delete", { handle: "a" });
    expect(store.find("a")).toBeDefined();
    expect(surface.getSnapshot().proposals[0]?.accept()).toBe("accepted");
    expect(store.find("a")).toBeUndefined();
  });

  test("a card that changed after the proposal is not deleted", async () => {
    const { surface, canvas, store, call } = startStage();
    await call("canvas_delete", { handle: "a" });
    canvas.edit("a", { title: "Needed", text: "" });
    expect(surface.getSnapshot().proposals[0]?.accept()).toBe("stale");
    expect(store.find("a")?.title).toBe("Needed");
  });

  test.each([
    ["canvas_move", { handle: "a", x: "0", y: 0 }, "x should be a number."],
    ["canvas_move", { handle: "zzz", x: 0, y: 0 }, "There is no card"],
    ["canvas_edit", { handle: " ", title: "" }, "handle should be text"],
    ["canvas_add", { x: 0, y: 0 }, "title should be text"],
  ])("%s says what is wrong with %j", async (tool, args, message) => {
    const reply = await startStage().call(tool, args);
    expect(reply.result?.isError).toBe(true);
    expect(textOf(reply)).toContain(message);
  });

  test("cards stay on the canvas, and their words inside their limits", async () => {
    const { store, call } = startStage();
    const { result } = await call("canvas_add", { title: "t".repeat(500), text: "u".repeat(5_000), x: 1e9, y: -4 });
    const handle = String(result?.structuredContent?.["handle"]);
    expect(store.find(handle)).toMatchObject({ title: "t".repeat(60), text: "u".repeat(280), x: 800, y: 0 });
  });
});

describe("what a person does", () => {
  test("undo takes back a whole drag, its pick-up included", () => {
    const { canvas, store } = startStage();
    canvas.move("b", { x: 1, y: 1 });
    canvas.pickUp("a");
    canvas.release("a");
    canvas.move("a", { x: 300, y: 300 });
    expect(canvas.undo()).toBe("Undone");
    expect(store.find("a")).toMatchObject({ x: 100, y: 100 });
    expect(canvas.undo()).toBe("Undone");
    expect(store.find("b")).toMatchObject({ x: 400, y: 100 });
    expect(canvas.undo()).toBe("Nothing to undo");
  });

  test("a deleted card comes back", () => {
    const { canvas, store } = startStage();
    canvas.remove("a");
    expect(canvas.undo()).toBe("Undone");
    expect(store.find("a")?.title).toBe("Alpha");
  });

  test("nothing is undone over an agent's later change", async () => {
    const { canvas, store, call } = startStage();
    canvas.move("a", { x: 1, y: 1 });
    await call("canvas_move", { handle: "a", x: 2, y: 2 });
    expect(canvas.undo()).toContain("Somebody changed it since");
    expect(store.find("a")).toMatchObject({ x: 2, y: 2 });
  });
});
