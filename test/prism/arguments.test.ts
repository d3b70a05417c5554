import { createSurfaceToolset, reconcileSurfaceEffect, surfaceTurn, watchSurface } from "@human-plus/adapter-prism";
import { createHarnessToolset } from "@human-plus/adapter-prism/harness";
import { createHumanPlus } from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";
import { afterAll, describe, expect, test } from "vitest";
import { startLiveCanvas } from "../parts/live-canvas.ts";
import { createScriptedProvider } from "./host/provider.ts";

import { createAgentSession } from "./host/session.ts";
import { attachToolset } from "./parts/attached-toolset.ts";

const humanPlus = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });
afterAll(() => humanPlus.close());
const session = createAgentSession({ provider: createScriptedProvider([]), tools: [] });
const surface = { humanPlus, owner: "me", attachmentId: "nobody-made-it" };
const record = { toolCallId: "c1", toolName: "canvas_move", status: "unknown", createdAt: 0 };
const effect = { ...surface, record, args: { card: "budget" }, handlesOf: () => ["budget"], since: "r1" };

type Given = Record<string, unknown>;
/** As a program without types calls them. */
const functions: Readonly<Record<string, { start(options: never): Promise<unknown>; fit: Given }>> = {
  createSurfaceToolset: { start: createSurfaceToolset, fit: surface },
  createHarnessToolset: { start: createHarnessToolset, fit: surface },
  surfaceTurn: { start: surfaceTurn, fit: surface },
  watchSurface: { start: (options) => watchSurface(session, options), fit: surface },
  reconcileSurfaceEffect: { start: reconcileSurfaceEffect, fit: effect },
};
const refusal = (message: string) => ({
  name: "HumanPlusError",
  code: "invalid_argument",
  outcome: "not_applied",
  message: expect.stringContaining(message),
});

describe.each(Object.entries(functions))("%s", (name, { start, fit }) => {
  const call = async (options: unknown) => start(options as never);

  test("takes what fits, and then looks for the attachment", async () => {
    await expect(call(fit)).rejects.toMatchObject({ code: "attachment_not_found" });
    await expect(call({ ...fit, timeoutMS: undefined })).rejects.toMatchObject({ code: "attachment_not_found" });
  });

  test.each<[Given, string]>([
    [{ humanPlus: undefined }, "humanPlus should be a client of createHumanPlus, got undefined"],
    [{ humanPlus: Promise.resolve() }, "humanPlus should be a client of createHumanPlus, got a promise"],
    [
      { humanPlus: humanPlus.session("me", "a") },
      "humanPlus should be a client of createHumanPlus, got an object without session",
    ],
    [{ owner: undefined }, "owner should be a text, got undefined"],
    [{ owner: 17 }, "owner should be a text, got 17"],
    [{ attachmentId: "" }, 'attachmentId should be a text, got ""'],
    [{ attachmentId: { id: "a" } }, "attachmentId should be a text, got an object"],
    [{ aproval: () => true }, `options of ${name} should be some of humanPlus, owner, attachmentId, `],
    [{ aproval: () => true }, 'got "aproval"'],
  ])("names what does not fit: %o", async (wrong, message) => {
    await expect(call({ ...fit, ...wrong })).rejects.toMatchObject(refusal(message));
  });

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    [[], "a list"],
    ["board", '"board"'],
  ])("is given options, not %o", async (options, got) => {
    await expect(call(options)).rejects.toMatchObject(refusal(`options of ${name} should be an object, got ${got}`));
  });
});

test.each<[string, Given, string]>([
  ["surfaceTurn", { role: "assistant" }, 'role should be "user" or "system", got "assistant"'],
  ["surfaceTurn", { protect: "yes" }, 'protect should be true or false, got "yes"'],
  ["surfaceTurn", { handlesOf: ["budget"] }, "handlesOf should be a function, got a list"],
  ["surfaceTurn", { maxTextBytes: 1.5 }, "maxTextBytes should be a whole number above 0, got 1.5"],
  [
    "surfaceTurn",
    { signal: new AbortController() },
    "signal should be an AbortSignal, got an object without addEventListener",
  ],
  ["surfaceTurn", { timeoutMs: "1s" }, 'timeoutMs should be a number of milliseconds above 0, got "1s"'],
  ["watchSurface", { softInterrupt: 1 }, "softInterrupt should be true or false, got 1"],
  ["watchSurface", { onRefused: "log" }, 'onRefused should be a function, got "log"'],
  ["createHarnessToolset", { exclusive: true }, 'got "exclusive"'],
  ["createSurfaceToolset", { prefix: "x".repeat(65) }, "got a text of 65 characters"],
  ["reconcileSurfaceEffect", { handlesOf: undefined }, "handlesOf should be a function, got undefined"],
  [
    "reconcileSurfaceEffect",
    { handlesOf: async () => [] },
    "handlesOf(...) should be a list of handles, and at once, got a promise",
  ],
  [
    "reconcileSurfaceEffect",
    { handlesOf: () => "budget" },
    'handlesOf(...) should be a list of handles, and at once, got "budget"',
  ],
  ["reconcileSurfaceEffect", { args: undefined }, "args should be an object, got undefined"],
  ["reconcileSurfaceEffect", { record: undefined }, "record should be an object, got undefined"],
  ["reconcileSurfaceEffect", { record: { ...record, toolName: 7 } }, "record.toolName should be a text, got 7"],
  [
    "reconcileSurfaceEffect",
    { record: { ...record, toolCallId: null } },
    "record.toolCallId should be a text, got null",
  ],
  [
    "reconcileSurfaceEffect",
    { record: { ...record, createdAt: new Date(0) } },
    "record.createdAt should be a time, as milliseconds or as text, got an object",
  ],
  ["reconcileSurfaceEffect", { names: { a: "b" } }, "names should be toolset.names, got an object without get"],
  ["reconcileSurfaceEffect", { since: 7 }, "since should be a text, got 7"],
  ["reconcileSurfaceEffect", { others: {} }, "others should be a list of calls, got an object"],
  [
    "reconcileSurfaceEffect",
    { others: [{ tool: "canvas_move" }] },
    "others[0].args should be an object, got undefined",
  ],
])("%s names what does not fit: %o", async (name, wrong, message) => {
  const { start, fit } = functions[name] as (typeof functions)[string];
  await expect(start({ ...fit, ...wrong } as never)).rejects.toMatchObject(refusal(message));
});

test.each([
  [undefined, "undefined"],
  [{ id: "s", subscribe() {} }, "an object without steer"],
])("a session of %o is none to watch", async (wrong, got) => {
  await expect(watchSurface(wrong as never, surface)).rejects.toMatchObject(
    refusal(`session should be a session of the host, got ${got}`),
  );
});

test.each<[string, () => unknown]>([
  ["a text", () => "budget"],
  ["a promise", async () => ["budget"]],
])(
  "a turn that protects refuses each call whose handles are named as %s, before anything is sent",
  async (_, named) => {
    await using canvas = await startLiveCanvas();
    const { execute, humanPlus: client, attachmentId } = await attachToolset(canvas);
    await execute("canvas_read");
    canvas.personMoves("budget", 7, 7);
    const handlesOf = named as () => Iterable<string>;
    using turn = await surfaceTurn({ humanPlus: client, owner: "me", attachmentId, protect: true, handlesOf });
    expect(turn.leaveAlone).toEqual(["budget"]);
    const call = execute("canvas_move", { card: "budget", x: 1, y: 1 });
    await expect(call).rejects.toMatchObject(refusal("handlesOf(...) should be a list of handles, and at once"));
    expect(canvas.cards.get("budget")).toMatchObject({ x: 7 });
  },
);
