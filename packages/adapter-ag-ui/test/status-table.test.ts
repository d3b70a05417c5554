import { describe, expect, test } from "vitest";
import { AgUiRefusal, createAgUiHandler } from "../src/handler.ts";

const input = { threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "hi" }] };
const json = { "content-type": "application/json" };

/** A request with this body, as JSON unless it is text already. */
function post(
  body: unknown,
  { headers = json, query = "" }: { headers?: Record<string, string>; query?: string } = {},
) {
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new Request(`http://agent.example/agui${query}`, { method: "POST", headers, body: text as string });
}

async function* run() {
  yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hello" };
}

const handler = createAgUiHandler({ authorize: () => ({}), run });
const open = createAgUiHandler<object, unknown>({
  authorize: () => ({}),
  run,
  input: { project: ({ input: all }) => all, frontendTools: ({ input: { tools } }) => tools.map(({ name }) => name) },
});

const tool = (name: string, more: object = {}) => ({ name, description: "", ...more });
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const user = (index: number) => ({ id: `u${index}`, role: "user", content: "hi" });
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
const big = "x".repeat(20_000);

type Row = readonly [what: string, request: () => Request, status: number, code: string, options?: { open?: boolean }];

const rows: readonly Row[] = [
  ["GET", () => new Request("http://agent.example/"), 405, "METHOD"],
  ["OPTIONS", () => new Request("http://agent.example/", { method: "OPTIONS" }), 405, "METHOD"],
  ["no content type", () => post(input, { headers: {} }), 415, "CONTENT_TYPE"],
  [
    "a form",
    () => post("a=b", { headers: { "content-type": "application/x-www-form-urlencoded" } }),
    415,
    "CONTENT_TYPE",
  ],
  [
    "a type that only begins so",
    () => post(input, { headers: { "content-type": "application/jsonp" } }),
    415,
    "CONTENT_TYPE",
  ],
  ["no body", () => new Request("http://agent.example/", { method: "POST", headers: json }), 400, "INPUT"],
  ["an empty body", () => post(""), 400, "INPUT"],
  ["bad JSON", () => post("{"), 400, "INPUT"],
  ["bad UTF-8", () => post(Uint8Array.of(0x22, 0xff, 0x22)), 400, "INPUT"],
  ["a list", () => post([]), 400, "INPUT"],
  ["null", () => post("null"), 400, "INPUT"],
  ["no threadId", () => post({ ...input, threadId: undefined }), 400, "INPUT"],
  ["a runId with spaces", () => post({ ...input, runId: "a b" }), 400, "INPUT"],
  ["a threadId of 129", () => post({ ...input, threadId: "t".repeat(129) }), 400, "INPUT"],
  ["a threadId that begins with a dot", () => post({ ...input, threadId: ".t" }), 400, "INPUT"],
  ["a bad parentRunId", () => post({ ...input, parentRunId: "../x" }), 400, "INPUT"],
  ["a bad message id", () => post({ ...input, messages: [{ ...user(1), id: "<b>" }] }), 400, "INPUT"],
  [
    "a bad tool call id",
    () =>
      post({
        ...input,
        messages: [{ id: "a", role: "assistant", toolCalls: [{ id: "", function: { name: "x", arguments: "{}" } }] }],
      }),
    400,
    "INPUT",
  ],
  [
    "a bad tool result id",
    () => post({ ...input, messages: [{ id: "a", role: "tool", toolCallId: " ", content: "" }] }),
    400,
    "INPUT",
  ],
  ["a bad interruptId", () => post({ ...input, resume: [{ interruptId: "a b", status: "resolved" }] }), 400, "INPUT"],
  ["an unknown role", () => post({ ...input, messages: [{ id: "a", role: "robot", content: "" }] }), 400, "INPUT"],
  ["messages that are none", () => post({ ...input, messages: ["hi"] }), 400, "INPUT"],
  ["messages that are no list", () => post({ ...input, messages: { 0: user(1) } }), 400, "INPUT"],
  [
    "a key that reaches the prototype",
    () => post(`{"threadId":"t","runId":"r","state":{"__proto__":{"x":1}}}`),
    400,
    "INPUT",
    { open: true },
  ],
  [
    "such a key at the top",
    () => post(`{"threadId":"t","runId":"r","messages":[],"constructor":1}`),
    400,
    "INPUT",
    { open: true },
  ],
  [
    "a number that is none",
    () => post(`{"threadId":"t","runId":"r","state":{"x":1e999}}`),
    400,
    "INPUT",
    { open: true },
  ],
  ["tools, to an agent that takes a text", () => post({ ...input, tools: [tool("x")] }), 400, "INPUT"],
  ["state, to an agent that takes a text", () => post({ ...input, state: { a: 1 } }), 400, "INPUT"],
  ["no message of a user", () => post({ ...input, messages: [] }), 400, "INPUT"],
  [
    "an image, to an agent that takes a text",
    () => post({ ...input, messages: [{ id: "u1", role: "user", content: [{ type: "image", source: {} }] }] }),
    400,
    "INPUT",
  ],
  [
    "a body over maxRequestBytes",
    () => post({ ...input, state: { x: "x".repeat(65_536) } }),
    413,
    "LIMIT",
    { open: true },
  ],
  ["too many messages", () => post({ ...input, messages: many(129, user) }), 413, "LIMIT", { open: true }],
  [
    "too many tools",
    () => post({ ...input, tools: many(33, (index) => tool(`t${index}`)) }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "too many contexts",
    () => post({ ...input, context: many(33, () => ({ description: "", value: "" })) }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "too many resume entries",
    () => post({ ...input, resume: many(9, () => ({ interruptId: "r:1", status: "resolved" })) }),
    413,
    "LIMIT",
  ],
  ["a state that is too deep", () => post({ ...input, state: nested(17) }), 413, "LIMIT", { open: true }],
  [
    "a state with too many members",
    () => post({ ...input, state: Object.fromEntries(many(129, (i) => [`k${i}`, 1])) }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "a state with too long a list",
    () => post({ ...input, state: { list: many(513, () => 1) } }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "a tool name over 512 bytes",
    () => post({ ...input, tools: [tool("x".repeat(513))] }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "a tool description over 8 KiB",
    () => post({ ...input, tools: [{ name: "x", description: big }] }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "a tool over maxInputToolBytes",
    () => post({ ...input, tools: [tool("x", { parameters: { description: big } })] }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "a context over maxInputContextBytes",
    () => post({ ...input, context: [{ description: "", value: big }] }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "too many media parts",
    () =>
      post({
        ...input,
        messages: [{ id: "u", role: "user", content: many(17, () => ({ type: "image", source: {} })) }],
      }),
    413,
    "LIMIT",
    { open: true },
  ],
  [
    "resume where nothing can be resumed",
    () => post({ ...input, resume: [{ interruptId: "r:1", status: "resolved" }] }),
    400,
    "REPLAY",
  ],
  ["a cursor where nothing can be read again", () => post(input, { query: "?cursor=" }), 400, "REPLAY"],
];

describe("a request is refused", () => {
  test.each(rows.map(([what, ...row]) => [what, row] as const))(
    "for %s",
    async (_, [request, status, code, options]) => {
      const response = await (options?.open === true ? open : handler)(request());
      const body = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, body.error.code]).toEqual([status, `HUMAN_PLUS_AG_UI_${code}`]);
      expect(Object.keys(body)).toEqual(["error"]);
      expect(Object.keys(body.error)).toEqual(["code", "message"]);
      expect(body.error.message).not.toMatch(/\n|\.ts\b/);
      expect(response.headers.get("cache-control")).toBe("no-store");
    },
  );

  const hi = user(1);
  const call = { id: "c", type: "function", function: { name: "x", arguments: "{}" } };
  const inMessage = (message: object) => ({ messages: [hi, message] });
  const long = "x".repeat(2_000);

  test.each<readonly [message: string, more: object]>([
    ["The run input is invalid", []],
    ["threadId is invalid", { threadId: 7 }],
    ["runId is invalid", { runId: undefined }],
    ["parentRunId is invalid", { parentRunId: "../x" }],
    ["messages is invalid", { messages: "hi" }],
    ["messages[1]: an object is required", { messages: [hi, "hi"] }],
    ["messages[1]: message id is invalid", inMessage({ ...hi, id: "<b>" })],
    ["messages[1]: role is invalid", inMessage({ ...hi, role: "robot" })],
    ["messages[1]: content is invalid", inMessage({ ...hi, content: 7 })],
    ["messages[1]: content[1]: an object is required", inMessage({ ...hi, content: [{ type: "text", text: "" }, 7] })],
    ["messages[1]: content[0]: part is invalid", inMessage({ ...hi, content: [{ type: "text" }] })],
    ["messages[1]: toolCalls is invalid", inMessage({ id: "a", role: "assistant", toolCalls: {} })],
    [
      "messages[1]: toolCalls[1]: function is invalid",
      inMessage({ id: "a", role: "assistant", toolCalls: [call, { ...call, function: { name: "x" } }] }),
    ],
    [
      "messages[1]: toolCalls[0]: tool call id is invalid",
      inMessage({ id: "a", role: "assistant", toolCalls: [{ ...call, id: "" }] }),
    ],
    ["messages[1]: tool result id is invalid", inMessage({ id: "a", role: "tool", toolCallId: " ", content: "" })],
    ["messages[1]: Invalid JSON value", inMessage({ ...hi, metadata: { constructor: 1 } })],
    ["messages[1]: A text exceeds maxInputTextBytes", inMessage({ ...hi, content: long })],
    [
      "messages[1]: content[0]: A media part exceeds maxInputMediaBytes",
      inMessage({ ...hi, content: [{ type: "image", source: { type: "data", value: long } }] }),
    ],
    ["tools is invalid", { tools: {} }],
    ["tools[1]: tool name is invalid", { tools: [tool("x"), { description: "" }] }],
    ["tools[0]: tool description is invalid", { tools: [{ name: "x", description: 7 }] }],
    ["tools[0]: tool parameters is invalid", { tools: [tool("x", { parameters: [] })] }],
    ["tools[0]: A tool exceeds maxInputToolBytes", { tools: [tool("x", { parameters: { title: long } })] }],
    ["context[0]: context is invalid", { context: [{ description: "x" }] }],
    ["context[0]: A context exceeds maxInputContextBytes", { context: [{ description: "", value: long }] }],
    ["resume[0]: status is invalid", { resume: [{ interruptId: "r:1", status: "maybe" }] }],
    ["resume[0]: interruptId is invalid", { resume: [{ interruptId: "a b", status: "resolved" }] }],
    ["command.resume[0]: interruptId is invalid", { forwardedProps: { command: { resume: { approved: true } } } }],
    ["state exceeds maxStateBytes", { state: { x: long } }],
    ["Invalid JSON value", { state: { constructor: 1 } }],
  ])("with its place, and not with what was sent: %s", async (message, more) => {
    const limits = {
      maxInputTextBytes: 1_024,
      maxInputMediaBytes: 1_024,
      maxInputToolBytes: 1_024,
      maxInputContextBytes: 1_024,
      maxStateBytes: 1_024,
    };
    const narrow = createAgUiHandler<object, unknown>({
      authorize: () => ({}),
      run,
      limits,
      input: { project: () => 1 },
    });
    const answer = await narrow(post(Array.isArray(more) ? more : { ...input, ...more }));
    expect(((await answer.json()) as { error: { message: string } }).error.message).toBe(message);
  });

  test("with the method that is allowed", async () => {
    expect((await handler(new Request("http://agent.example/"))).headers.get("allow")).toBe("POST");
  });

  test.each([
    ["false", () => false as const, 403, "FORBIDDEN"],
    ["nothing", () => undefined, 403, "FORBIDDEN"],
    [
      "an error",
      () => {
        throw new Error("secret");
      },
      500,
      "INTERNAL",
    ],
    ["a rejection", () => Promise.reject(new Error("secret")), 500, "INTERNAL"],
    [
      "a refusal",
      () => {
        throw new AgUiRefusal(401, "Who are you?", { headers: { "www-authenticate": "Bearer" } });
      },
      401,
      "UNAUTHORIZED",
    ],
  ])("when authorize gives %s", async (_, authorize, status, code) => {
    const problems: unknown[] = [];
    const response = await createAgUiHandler({ authorize, run, onProblem: (problem) => problems.push(problem) })(
      post(input),
    );
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code]).toEqual([status, `HUMAN_PLUS_AG_UI_${code}`]);
    expect(text).not.toContain("secret");
    expect(problems.length).toBe(status === 500 ? 1 : 0);
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  });

  test.each([
    ["project gives nothing", { project: () => undefined }, 403, "FORBIDDEN"],
    ["there are tools, and nothing says which may be called", { project: () => 1 }, 403, "FORBIDDEN"],
    ["a tool is taken that is not offered", { project: () => 1, frontendTools: () => ["y"] }, 400, "INPUT"],
    ["a tool is taken twice", { project: () => 1, frontendTools: () => ["x", "x"] }, 400, "INPUT"],
  ])("when %s", async (_, inputOptions, status, code) => {
    const picky = createAgUiHandler<object, unknown>({ authorize: () => ({}), run, input: inputOptions });
    const response = await picky(post({ ...input, tools: [tool("x")] }));
    expect([response.status, (await response.json()).error.code]).toEqual([status, `HUMAN_PLUS_AG_UI_${code}`]);
  });

  test("before anybody asks who it is, where the input is bad, and after that for who it is", async () => {
    const asked: string[] = [];
    const guarded = createAgUiHandler({
      authorize({ threadId, runId }) {
        asked.push(`${threadId}/${runId}`);
        return false;
      },
      run,
    });
    expect((await guarded(post({ ...input, tools: [tool("x")] }))).status).toBe(400);
    expect(asked).toEqual([]);
    expect((await guarded(post(input))).status).toBe(403);
    expect((await guarded(post({ ...input, resume: [{ interruptId: "old:3", status: "resolved" }] }))).status).toBe(
      403,
    );
    expect((await guarded(post({ ...input, parentRunId: "older" }, { query: "?cursor=" }))).status).toBe(403);
    expect(asked).toEqual(["t/r", "t/old", "t/older"]);
  });

  test("when the server is shutting down", async () => {
    const closing = createAgUiHandler({ authorize: () => ({}), run });
    await closing.close();
    const response = await closing(post(input));
    expect([response.status, (await response.json()).error.code]).toEqual([503, "HUMAN_PLUS_AG_UI_SHUTDOWN"]);
  });

  test("when its body or its host takes too long", async () => {
    const impatient = { limits: { requestTimeoutMs: 1_024 } };
    const hung = createAgUiHandler({ authorize: () => new Promise<false>(() => undefined), run, ...impatient });
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) });
    const slow = new Request("http://agent.example/", {
      method: "POST",
      headers: json,
      body,
      duplex: "half",
    } as RequestInit);
    const [late, never] = await Promise.all([hung(slow), hung(post(input))]);
    expect([late.status, never.status]).toEqual([408, 504]);
  });
});

describe("a request is taken", () => {
  test.each<readonly [string, object]>([
    ["without tools, context and state", input],
    ["with nothing in them", { ...input, tools: [], context: [], state: {}, forwardedProps: {} }],
    [
      "with null for all that is absent",
      { ...input, tools: null, context: null, state: null, resume: null, parentRunId: null, forwardedProps: null },
    ],
    [
      "from a client of another version",
      { ...input, protocolVersion: "9.9", anything: [1], messages: [{ ...user(1), metadata: { x: 1 } }] },
    ],
    [
      "with a text in parts",
      { ...input, messages: [{ id: "u1", role: "user", content: [{ type: "text", text: "hi" }] }] },
    ],
    [
      "with activities, which are for people",
      { ...input, messages: [user(1), { id: "a", role: "activity", activityType: "x", content: {} }] },
    ],
  ])("%s", async (_, body) => {
    const response = await handler(post(body, { headers: { "content-type": "Application/JSON; charset=utf-8" } }));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("RUN_FINISHED")]);
  });

  test("with as many messages of three members as there may be", async () => {
    expect((await open(post({ ...input, messages: many(128, user) }))).status).toBe(200);
  });
});
