import { describe, expect, test } from "vitest";
import { type AgUiHandlerOptions, createAgUiHandler } from "../src/handler.ts";
import { composeProjections } from "../src/index.ts";

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

describe("an option", () => {
  const lifecycle = { status: async () => ({}), resumeStream: async function* () {} };
  const interrupts = { lifecycle, resolveRun: () => undefined };
  const source = { page: async () => ({ items: [], terminal: true }) };
  const replay = { source, resolveRun: () => undefined };
  const wrongFunctions = ["text", 1, true, null, {}, []];
  const wrongObjects = ["text", 1, true, null, [], () => ({})];

  const functions: ReadonlyArray<readonly [string, (value: unknown) => object]> = [
    ...["authorize", "run", "encoder", "onProblem", "now"].map(
      (name) => [name, (value: unknown) => ({ [name]: value })] as const,
    ),
    ...["project", "frontendTools"].map(
      (name) => [`input.${name}`, (value: unknown) => ({ input: { [name]: value } })] as const,
    ),
    ...[
      "open",
      "toolArguments",
      "toolResult",
      "state",
      "stateSnapshot",
      "stateDelta",
      "messages",
      "activity",
      "reasoning",
      "raw",
      "custom",
      "interrupt",
    ].map((name) => [`projection.${name}`, (value: unknown) => ({ projection: { [name]: value } })] as const),
    ...["resolveRun", "onSuspended", "resume"].map(
      (name) => [`interrupts.${name}`, (value: unknown) => ({ interrupts: { ...interrupts, [name]: value } })] as const,
    ),
    ...["status", "resumeStream"].map(
      (name) =>
        [
          `interrupts.lifecycle.${name}`,
          (value: unknown) => ({ interrupts: { ...interrupts, lifecycle: { ...lifecycle, [name]: value } } }),
        ] as const,
    ),
    ["replay.resolveRun", (resolveRun) => ({ replay: { ...replay, resolveRun } })],
    ...["page", "subscribe"].map(
      (name) =>
        [
          `replay.source.${name}`,
          (value: unknown) => ({ replay: { ...replay, source: { ...source, [name]: value } } }),
        ] as const,
    ),
  ];

  test.each(functions)("%s should be a function", (name, options) => {
    expect(() => create(options(() => undefined))).not.toThrow();
    for (const value of wrongFunctions) expectFault(options(value), `${name} should be a function, is `);
  });

  test.each([
    ["authorize", { authorize: undefined }],
    ["run", { run: undefined }],
    ["interrupts.resolveRun", { interrupts: { lifecycle } }],
    ["interrupts.lifecycle.status", { interrupts: { ...interrupts, lifecycle: {} } }],
    ["interrupts.lifecycle.resumeStream", { interrupts: { ...interrupts, lifecycle: { status: () => ({}) } } }],
    ["replay.resolveRun", { replay: { source } }],
    ["replay.source.page", { replay: { ...replay, source: {} } }],
  ])("%s has to be there", (name, options) => {
    expectFault(options, `${name} should be a function, is undefined`);
  });

  test.each([
    ["interrupts.lifecycle", { interrupts: {} }],
    ["replay.source", { replay: {} }],
  ])("%s has to be there", (name, options) => {
    expectFault(options, `${name} should be an object, is undefined`);
  });

  test.each(["input", "projection", "interrupts", "replay", "capabilities"])("%s should be an object", (name) => {
    for (const value of wrongObjects) expectFault({ [name]: value }, `${name} should be an object, is `);
    expect(() => create({ [name]: undefined })).not.toThrow();
  });

  test.each(["text", 1, null, undefined, [], () => ({})])("is looked for in an object, and %s is none", (options) => {
    expect(() => createAgUiHandler(options as never)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(/^options should be an object, is /),
      }),
    );
  });

  test("input.takesResume should be true or false", () => {
    for (const takesResume of [true, false]) expect(() => create({ input: { takesResume } })).not.toThrow();
    for (const takesResume of ["yes", 1, null, () => true])
      expectFault({ input: { takesResume } }, "input.takesResume should be true or false, is ");
  });

  test.each([
    ["pingMs", 10, 60_000, (pingMs: unknown) => ({ pingMs })],
    [
      "interrupts.expiresAfterMs",
      1,
      31_536_000_000,
      (expiresAfterMs: unknown) => ({ interrupts: { ...interrupts, expiresAfterMs } }),
    ],
  ] as const)("%s should lie between %d and %d", (name, min, max, options) => {
    for (const value of [min, max]) expect(() => create(options(value))).not.toThrow();
    for (const value of [min - 1, max + 1, min + 0.5, Number.NaN, "100", null])
      expectFault(options(value), `${name} should be a whole number from ${min} to ${max}, is `);
  });

  test.each([
    ["options", { ping: 100 }],
    ["input", { input: { projekt: () => "x" } }],
    ["projection", { projection: { toolArgs: () => "{}" } }],
    ["interrupts", { interrupts: { ...interrupts, onSuspend: () => undefined } }],
    ["replay", { replay: { ...replay, sauce: {} } }],
    ["capabilities", { capabilities: { magic: {} } }],
  ])("under a name that nobody knows is refused in %s", (path, options) => {
    expect(() => create(options)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(new RegExp(`^${path} should hold no "\\w+": there is no such option$`)),
      }),
    );
  });

  test("may be an instance of a class, and hold more where it is the host's own", () => {
    class Lifecycle {
      calls = 0;
      async status() {
        return { state: { status: "suspended" }, version: ++this.calls };
      }
      async *resumeStream() {}
    }
    class Source {
      stored = [];
      async page() {
        return { items: this.stored, terminal: true };
      }
    }
    class Own {
      opened = 0;
      open() {
        this.opened++;
        return undefined;
      }
    }
    expect(() => create({ interrupts: { ...interrupts, lifecycle: new Lifecycle() } })).not.toThrow();
    expect(() => create({ replay: { ...replay, source: new Source() } })).not.toThrow();
    expect(() => create({ projection: new Own() })).not.toThrow();
    expect(() => create({ projection: composeProjections(new Own(), { toolArguments: () => "{}" }) })).not.toThrow();
  });

  function expectFault(options: object, beginning: string): void {
    expect(() => create(options)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(new RegExp(`^${beginning.replaceAll(".", "\\.")}`)),
      }),
    );
  }
});

describe("a capability", () => {
  const project = { input: { project: () => "x" } };
  const frontend = { input: { project: () => "x", frontendTools: () => [] } };
  const replay = {
    replay: { source: { page: async () => ({ items: [], terminal: true }) }, resolveRun: () => undefined },
  };
  const lifecycle = { status: async () => ({}), resumeStream: async function* () {} };
  const interrupts = { interrupts: { lifecycle, resolveRun: () => undefined } };

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

  test("that is no group is refused", () => {
    expect(() => create({ capabilities: { tools: true } })).toThrow(
      /^capabilities\.tools should be an object, is true/,
    );
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
