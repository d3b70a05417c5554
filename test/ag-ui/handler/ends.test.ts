import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import {
  type AgUiHandler,
  type AgUiHandlerOptions,
  createAgUiHandler,
  fromPrism,
  nodeListener,
} from "@human-plus/adapter-ag-ui/handler";
import { createHumanPlus, TrustPolicy } from "@human-plus/core";
import { createInvitation } from "@human-plus/surface";
import { createSseTransport } from "@human-plus/transport-sse";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startRelayProcess } from "../../parts/relay-process.ts";
import { assertGood, completeInput, judge } from "../judge.ts";
import { createSession, type SessionEvent, think } from "../parts/prism-session.ts";
import { readSseBody } from "../parts/sse-frames.ts";
import { cutOff } from "../taps/recordings.ts";

const unhandled: unknown[] = [];
const listen = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", listen));
afterEach(() => expect(unhandled.splice(0)).toEqual([]));
afterAll(() => void process.off("unhandledRejection", listen));

const body = JSON.stringify(completeInput());
const headers = { "content-type": "application/json", connection: "close" };

/** A run that goes on until it is told to stop, and how it was. */
function endless({ quiet = false, size = 100 } = {}) {
  let stopped: (reason: unknown) => void = () => undefined;
  const end = new Promise((resolve) => {
    stopped = resolve;
  });
  let said = 0;
  const session = createSession(async (say, signal) => {
    try {
      say({ type: "agent_started" });
      for (;;) {
        if (!quiet) say({ type: "message_delta", content: { type: "text", text: "x".repeat(size) } });
        said++;
        await think(2, signal);
      }
    } finally {
      stopped(signal.reason);
    }
  });
  return { session, end, said: () => said };
}

function handlerOf(run: ReturnType<typeof endless>, options: Partial<AgUiHandlerOptions<object>> = {}) {
  return createAgUiHandler<object>({
    authorize: () => ({}),
    run: ({ input, signal }) => fromPrism(run.session.stream(input, { signal })),
    ...options,
  });
}

async function serve(
  handler: AgUiHandler,
): Promise<Server & AsyncDisposable & { readonly port: number; readonly url: string }> {
  const server = createServer(nodeListener(handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(server, {
    port,
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}

const ends = (text: string) =>
  readSseBody(text).events.filter((event) => /^RUN_(ERROR|FINISHED)$/.test((event as SessionEvent).type));

describe("a client that goes away", () => {
  test("aborts the run, over a socket", async () => {
    cutOff("the client goes away");
    const run = endless();
    await using server = await serve(handlerOf(run));
    const outgoing = httpRequest({ port: server.port, host: "127.0.0.1", method: "POST", headers }).end(body);
    const [incoming] = await once(outgoing, "response");
    await once(incoming, "data");
    outgoing.destroy();
    expect(await run.end).toBeInstanceOf(Error);
  });

  test("aborts the run that has not said anything", async () => {
    cutOff("the client goes away");
    const run = endless({ quiet: true });
    await using server = await serve(handlerOf(run));
    const abort = new AbortController();
    const response = await fetch(server.url, { method: "POST", headers, body, signal: abort.signal });
    abort.abort();
    await run.end;
    await expect(response.text()).rejects.toThrow();
  });

  test("aborts the run, where a server cancels the body", async () => {
    cutOff("the server cancels the body");
    const run = endless();
    const response = await handlerOf(run)(new Request("http://agent.example/", { method: "POST", headers, body }));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await run.end;
  });

  test("is seen before the run begins, too", async () => {
    const run = endless();
    const abort = new AbortController();
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const handler = handlerOf(run, {
      authorize({ signal }) {
        isAsked();
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve({})));
      },
    });
    const answer = handler(
      new Request("http://agent.example/", { method: "POST", headers, body, signal: abort.signal }),
    );
    await asked;
    abort.abort();
    expect((await answer).status).toBe(504);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(run.said()).toBe(0);
  });

  test("is seen while the host still thinks about it, over a socket", async () => {
    let gone: () => void = () => undefined;
    const isGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const handler = handlerOf(endless(), {
      authorize({ signal }) {
        signal.addEventListener("abort", gone);
        isAsked();
        return new Promise(() => undefined);
      },
    });
    await using server = await serve(handler);
    const outgoing = httpRequest({ port: server.port, host: "127.0.0.1", method: "POST", headers }).end(body);
    outgoing.on("error", () => undefined);
    await asked;
    outgoing.destroy();
    await isGone;
  });

  test("of the real client, when its user stops it", async () => {
    cutOff("the client goes away");
    const run = endless();
    await using server = await serve(handlerOf(run));
    const { HttpAgent } = await import("@ag-ui/client");
    const agent = new HttpAgent({ url: server.url, initialMessages: [{ id: "u1", role: "user", content: "go" }] });
    let seen = 0;
    await agent.runAgent({}, { onEvent: () => void (++seen === 5 && agent.abortRun()) });
    await run.end;
  });
});

describe("a reader that stops reading", () => {
  test("is waited for, and then given up: the run ends, and one terminal event is left for it", async () => {
    const run = endless({ size: 60_000 });
    const handler = handlerOf(run, { limits: { stallTimeoutMs: 1_024, maxQueuedEvents: 8 } });
    await using server = await serve(handler);
    const socket = connect(server.port, "127.0.0.1");
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    await run.end;
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).resume();
    await once(socket, "end");
    const text = Buffer.concat(chunks).toString();
    expect(text.match(/"type":"RUN_(ERROR|FINISHED)"/g)?.length).toBe(1);
    expect(text).toMatch(/"HUMAN_PLUS_AG_UI_(STALLED|OVERFLOW)"/);
    expect(text.trimEnd().endsWith("0")).toBe(true); // the last chunk: the stream was not cut
  });

  test("holds the run back meanwhile: no more is asked of it than fits", async () => {
    let asked = 0;
    let stopped: () => void = () => undefined;
    const isStopped = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const handler = createAgUiHandler({
      authorize: () => ({}),
      async *run({ signal }) {
        signal.addEventListener("abort", () => stopped());
        for (;;) {
          asked++;
          yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" };
        }
      },
      limits: { maxQueuedEvents: 10, stallTimeoutMs: 1_024 },
    });
    const response = await handler(new Request("http://agent.example/", { method: "POST", headers, body }));
    await isStopped;
    expect(asked).toBeLessThan(12);
    const text = await response.text();
    expect(ends(text)).toEqual([expect.objectContaining({ code: "HUMAN_PLUS_AG_UI_STALLED" })]);
    expect(asked).toBeLessThan(12);
  });
});

describe("a server that shuts down", () => {
  test("ends every stream with one terminal event, and aborts the runs", async () => {
    const runs = Array.from({ length: 10 }, () => endless());
    let index = 0;
    const handler = createAgUiHandler<object>({
      authorize: () => ({}),
      run: ({ signal }) => fromPrism((runs[index++] as ReturnType<typeof endless>).session.stream("", { signal })),
    });
    await using server = await serve(handler);
    const texts = await Promise.all(
      runs.map(async () => (await fetch(server.url, { method: "POST", headers, body })).body?.getReader()),
    );
    await Promise.all(texts.map((reader) => reader?.read()));
    const rest = texts.map(async (reader) => {
      let text = "";
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) return text;
        text += new TextDecoder().decode(value);
      }
    });
    await handler.close();
    for (const text of await Promise.all(rest)) {
      expect(text.match(/"type":"RUN_ERROR"/g)?.length).toBe(1);
      expect(text).toContain("HUMAN_PLUS_AG_UI_SHUTDOWN");
    }
    await Promise.all(runs.map(({ end }) => end));
    expect((await fetch(server.url, { method: "POST", headers, body })).status).toBe(503);
  });

  test("shows clients of every version that the run failed", async () => {
    const handlers: AgUiHandler[] = [];
    const verdict = await judge({
      handler: async (request) => {
        const run = endless();
        const handler = handlerOf(run);
        handlers.push(handler);
        const response = await handler(request);
        setTimeout(() => void handler.close(), 20);
        return response;
      },
    });
    expect(verdict.reasons).toEqual([]);
    expect(verdict.clients.map(({ runError }) => runError?.code)).toEqual(
      Array.from({ length: 3 }, () => "HUMAN_PLUS_AG_UI_SHUTDOWN"),
    );
  });

  test("does not wait for readers that are gone for good", async () => {
    const handler = handlerOf(endless());
    await handler(new Request("http://agent.example/", { method: "POST", headers, body }));
    await handler.close({ graceMs: 50 });
  });
});

test("a run that takes too long is ended for clients of every version", async () => {
  const verdict = await judge({
    handler: handlerOf(endless({ quiet: true }), { limits: { requestTimeoutMs: 1_024 } }),
  });
  expect(verdict.reasons).toEqual([]);
  expect(verdict.clients.map(({ runError }) => runError?.code)).toEqual(
    Array.from({ length: 3 }, () => "HUMAN_PLUS_AG_UI_TIMEOUT"),
  );
});

test.each([
  ["events", { maxStreamEvents: 20 }],
  ["bytes", { maxStreamBytes: 2_048 }],
])("a run that says too much is ended, by %s", async (_, limits) => {
  const { events } = await assertGood({ handler: handlerOf(endless(), { limits }) });
  expect(events.at(-1)).toEqual({
    type: "RUN_ERROR",
    message: "The stream exceeds its limit",
    code: "HUMAN_PLUS_AG_UI_LIMIT",
  });
  expect(events.length).toBeLessThan(24);
});

test("a run that loses its relay ends with the code of that, and what became of its call", async () => {
  await using relay = await startRelayProcess();
  await using client = {
    humanPlus: createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) }),
    [Symbol.asyncDispose]: () => client.humanPlus.close(),
  };
  const board = await client.humanPlus.attach({
    owner: "user-17",
    invitation: createInvitation({ relayBaseUrl: relay.baseUrl, surfaceId: "board", application: "canvas" }),
    participant: { name: "Tidy" },
    trust: TrustPolicy.allowing(["canvas_read"]),
  });
  await relay.kill();
  const handler = createAgUiHandler({
    authorize: () => ({}),
    async *run() {
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Let me see" };
      await board.call("canvas_read");
    },
  });
  const { events, body: text } = await assertGood({ handler });
  expect(events.at(-1)).toMatchObject({
    type: "RUN_ERROR",
    message: expect.stringMatching(/^The run failed: relay_\w+, nothing was applied$/),
    code: expect.stringMatching(/^HUMAN_PLUS_RELAY_/),
  });
  expect(text).not.toContain(String(relay.port));
});

describe("a quiet stream", () => {
  /** Reads until something is there, and gives what was read. */
  async function readUntil(
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
    isThere: (text: string) => boolean,
  ) {
    let text = "";
    const decoder = new TextDecoder();
    while (!isThere(text)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    return text;
  }

  function quiet(options: Partial<AgUiHandlerOptions<object>>) {
    let goOn: () => void = () => undefined;
    const isOver = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const handler = createAgUiHandler<object>({
      authorize: () => ({}),
      async *run() {
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" };
        await isOver;
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "b" };
      },
      ...options,
    });
    return { handler, goOn };
  }

  const ask = async (handler: AgUiHandler) =>
    (await handler(new Request("http://agent.example/", { method: "POST", headers, body }))).body?.getReader();

  test("says that it lives, between frames and never within one", async () => {
    const { handler, goOn } = quiet({ pingMs: 10 });
    const reader = await ask(handler);
    const first = await readUntil(reader, (text) => (text.match(/: ping/g)?.length ?? 0) >= 3);
    goOn();
    const text = first + (await readUntil(reader, () => false));
    expect(text.match(/(^|\n\n): ping(?=\n\n)/g)?.length).toBeGreaterThanOrEqual(3);
    expect(readSseBody(text).faults).toEqual([]);
    expect(ends(text)).toEqual([expect.objectContaining({ type: "RUN_FINISHED" })]);
  });

  test("does not pile that up for a reader that is not there", async () => {
    const { handler, goOn } = quiet({ pingMs: 10 });
    const reader = await ask(handler);
    await readUntil(reader, (text) => text.includes('"a"'));
    await think(150, new AbortController().signal); // as good as fifteen of them
    goOn();
    expect((await readUntil(reader, () => false)).match(/: ping/g)?.length ?? 0).toBeLessThan(3);
  });

  test("is not taken for one that nobody reads", async () => {
    const { handler, goOn } = quiet({ limits: { stallTimeoutMs: 1_024 } });
    const reader = await ask(handler);
    await readUntil(reader, (text) => text.includes('"a"'));
    await think(1_300, new AbortController().signal); // the reader has all there is, and is busy with it
    goOn();
    expect(ends(`${await readUntil(reader, () => false)}`)).toEqual([
      expect.objectContaining({ type: "RUN_FINISHED" }),
    ]);
  });
});
