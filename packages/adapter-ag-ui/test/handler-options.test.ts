import { HumanPlusError } from "@human-plus/core";
import { describe, expect, test } from "vitest";
import { type AgUiHandlerOptions, createAgUiHandler } from "../src/handler.ts";

const base: AgUiHandlerOptions<object> = { authorize: () => ({}), run: async function* () {} };
const create = (options: object) => createAgUiHandler({ ...base, ...options });

/** name, minimum, default, hard cap: a copy by hand, so that a change is seen. */
const limits: ReadonlyArray<readonly [string, number, number, number]> = [
  ["maxRequestBytes", 1_024, 65_536, 1_048_576],
  ["maxEventBytes", 1_024, 65_536, 1_048_576],
  ["maxTextBytes", 16, 65_536, 1_048_576],
  ["maxInputTextBytes", 1_024, 65_536, 1_048_576],
  ["maxInputMediaBytes", 1_024, 65_536, 1_048_576],
  ["maxStateBytes", 1_024, 65_536, 1_048_576],
  ["maxActivityBytes", 1_024, 65_536, 1_048_576],
  ["maxReasoningBytes", 1_024, 65_536, 1_048_576],
  ["maxRawEventBytes", 1_024, 65_536, 1_048_576],
  ["maxErrorBytes", 16, 8_192, 65_536],
  ["maxInputToolBytes", 1_024, 16_384, 262_144],
  ["maxInputContextBytes", 1_024, 16_384, 262_144],
  ["maxCursorBytes", 1_024, 4_096, 16_384],
  ["maxInputMessages", 1, 128, 1_024],
  ["maxInputTools", 1, 32, 256],
  ["maxInputContexts", 1, 32, 256],
  ["maxInputInterrupts", 1, 8, 64],
  ["maxInputMediaParts", 1, 16, 64],
  ["maxReplayEvents", 1, 100, 500],
  ["maxStreamEvents", 1, 10_000, 100_000],
  ["maxStreamBytes", 1_024, 10_485_760, 67_108_864],
  ["maxQueuedEvents", 1, 128, 4_096],
  ["requestTimeoutMs", 1_024, 120_000, 1_800_000],
  ["stallTimeoutMs", 1_024, 30_000, 600_000],
  ["maxPatchOperations", 1, 128, 4_096],
  ["maxJsonDepth", 1, 16, 64],
  ["maxJsonProperties", 1, 128, 4_096],
  ["maxJsonArrayItems", 1, 512, 8_192],
];

describe("a limit", () => {
  test.each(limits)("%s lies between %d and its hard cap, and is %d otherwise", (name, min, _, max) => {
    for (const value of [min, max]) expect(() => create({ limits: { [name]: value } })).not.toThrow();
    for (const value of [min - 1, max + 1, min + 0.5, Number.NaN, "100", null])
      expect(() => create({ limits: { [name]: value } })).toThrow(
        expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(`limits.${name}`) }),
      );
  });

  test("is as the README says", async () => {
    const { readFile } = await import("node:fs/promises");
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const number = (text: string | undefined) => Number(text?.replaceAll("_", "").replaceAll(",", ""));
    const rows = new Map(
      readme
        .split("\n")
        .map((line) => /^\| `(max\w+|\w+TimeoutMs)` \|.*?\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/.exec(line))
        .filter((match) => match !== null)
        .map(([, name, min, standard, max]) => [name, [number(min), number(standard), number(max)]]),
    );
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(limits.map(([name, ...bounds]) => [name, bounds])));
  });

  test("that is none is refused", () => {
    expect(() => create({ limits: { maxEvents: 1 } })).toThrow(/limits\.maxEvents is no limit/);
  });

  test("on events leaves room for the cursors of a replay", () => {
    const replay = { source: { page: async () => ({ items: [], terminal: true }) }, resolveRun: () => undefined };
    expect(() => create({ replay, limits: { maxEventBytes: 4_096 } })).toThrow(/maxEventBytes/);
    expect(() => create({ replay, limits: { maxEventBytes: 4_096, maxCursorBytes: 1_024 } })).not.toThrow();
  });
});

test.each([
  ["authorize", { authorize: undefined }],
  ["run", { run: "run" }],
  ["pingMs", { pingMs: 0 }],
  ["interrupts.expiresAfterMs", { interrupts: { expiresAfterMs: 0 } }],
])("an option that is none is named: %s", (name, options) => {
  expect(() => create(options)).toThrow(HumanPlusError);
  expect(() => create(options)).toThrow(new RegExp(`^${name} should be`));
});

describe("a capability", () => {
  const project = { input: { project: () => "x" } };
  const frontend = { input: { project: () => "x", frontendTools: () => [] } };
  const replay = {
    replay: { source: { page: async () => ({ items: [], terminal: true }) }, resolveRun: () => undefined },
  };
  const interrupts = { interrupts: { lifecycle: {}, resolveRun: () => undefined } };

  test.each<readonly [string, object, object | undefined]>([
    ["transport.websocket", { transport: { websocket: true } }, undefined],
    ["transport.httpBinary", { transport: { httpBinary: true } }, undefined],
    ["transport.pushNotifications", { transport: { pushNotifications: true } }, undefined],
    ["transport.resumable", { transport: { resumable: true } }, replay],
    ["tools.clientProvided", { tools: { clientProvided: true } }, frontend],
    ["state.snapshots", { state: { snapshots: true } }, { projection: { stateSnapshot: () => ({}) } }],
    ["state.deltas", { state: { deltas: true } }, { projection: { stateDelta: () => [] } }],
    ["reasoning.streaming", { reasoning: { streaming: true } }, { projection: { reasoning: () => ({}) } }],
    ["multimodal.input", { multimodal: { input: { image: true } } }, project],
    ["humanInTheLoop.approvals", { humanInTheLoop: { approvals: true } }, interrupts],
    ["humanInTheLoop.interrupts", { humanInTheLoop: { interrupts: true } }, interrupts],
    ["humanInTheLoop.approveWithEdits", { humanInTheLoop: { approveWithEdits: true } }, undefined],
  ])("%s is refused unless it is true", (path, capabilities, options) => {
    expect(() => create({ capabilities })).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(`capabilities.${path}`) }),
    );
    if (options !== undefined) expect(() => create({ capabilities, ...options })).not.toThrow();
    else
      for (const other of [project, frontend, replay, interrupts])
        expect(() => create({ capabilities, ...other })).toThrow();
  });

  test("that nobody knows is refused, and so is what is no group", () => {
    expect(() => create({ capabilities: { magic: {} } })).toThrow(/capabilities\.magic is no group/);
    expect(() => create({ capabilities: { tools: true } })).toThrow(/capabilities\.tools should be an object, is true/);
    expect(() => create({ capabilities: [] })).toThrow(/capabilities should be an object of groups, is a list/);
  });

  test("stays as it was said, and what the handler knows better is added", () => {
    expect(create({}).capabilities).toEqual({ transport: { streaming: true, resumable: false } });
    const capabilities = {
      identity: { name: "Tidy" },
      humanInTheLoop: { interrupts: true },
      custom: { humanplus: { a: 1 } },
    };
    expect(create({ capabilities, ...interrupts, ...replay }).capabilities).toEqual({
      ...capabilities,
      transport: { streaming: true, resumable: true },
      humanInTheLoop: { interrupts: true, approveWithEdits: false },
    });
  });
});

test.each([["project"], ["frontendTools"]])(
  "input.%s that is no function is refused when the handler is made",
  (name) => {
    expect(() => create({ input: { [name]: ["open_dialog"] } })).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining(`input.${name} should be`),
      }),
    );
  },
);
