import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { clientVersions, startClientProcess } from "../parts/client-process.ts";
import { EventStore } from "../parts/event-source.ts";
import { createTalkingRun, forever } from "../parts/hanging-runs.ts";
import {
  connectRaw,
  endOf,
  readAll,
  requestBody,
  requestHead,
  startNodeServer,
  webRequest,
} from "../parts/node-server.ts";
import { cutOff } from "../taps/recordings.ts";

countUnhandledRejections();

/** The least that can be asked for, in milliseconds. */
const STALL_MS = 1_024;

const refused = { error: { code: "HUMAN_PLUS_AG_UI_SHUTDOWN", message: "The server is shutting down" } };

/** A handler of which one callback hears of nothing and never answers, and when that was asked. */
function createWaitingHandler(name: "authorize" | "project" | "frontendTools" | "encoder" | "status" | "resolveRun") {
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const hang = (context?: { readonly signal?: AbortSignal | undefined }) => {
    asked.resolve(context?.signal);
    return forever();
  };
  const run = createTalkingRun();
  const handler = createAgUiHandler<object, unknown>({
    authorize: name === "authorize" ? hang : () => ({}),
    run: run.run,
    input: {
      project: name === "project" ? hang : ({ input }) => input,
      frontendTools: name === "frontendTools" ? hang : () => [],
    },
    interrupts: {
      resolveRun: name === "resolveRun" ? hang : () => ({ ref: { runId: "r" } }),
      lifecycle: {
        status: (_, options) => hang(options),
        resumeStream: () => run.run({ signal: new AbortController().signal }),
      },
    },
    encoder: hang,
  });
  return { handler, asked: asked.promise, run };
}

const input = JSON.parse(requestBody) as object;
const protobuf = { "content-type": "application/json", accept: "application/vnd.ag-ui.event+proto" };
const resume = [{ interruptId: "r:1", status: "resolved", payload: { decision: "approve" } }];
const tools = [{ name: "ask", description: "", parameters: {} }];

const waiting: ReadonlyArray<readonly [Parameters<typeof createWaitingHandler>[0], RequestInit]> = [
  ["authorize", {}],
  ["project", {}],
  ["frontendTools", { body: JSON.stringify({ ...input, tools }) }],
  ["encoder", { headers: protobuf, body: JSON.stringify({ ...input, protocolVersion: "1.0" }) }],
  ["resolveRun", { body: JSON.stringify({ ...input, resume }) }],
  ["status", { body: JSON.stringify({ ...input, resume }) }],
];

describe("a request that has no answer when the server shuts down", () => {
  test.each(waiting)("gets one at once, and begins no run: it waits for %s", async (name, init) => {
    const { handler, asked, run } = createWaitingHandler(name);
    const answer = handler(webRequest("", init));
    const signal = await within(AT_ONCE_MS, "the callback", asked);
    await within(AT_ONCE_MS, "close", handler.close());
    const response = await within(AT_ONCE_MS, "the answer", answer);
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 503, body: refused });
    if (name !== "encoder") expect(signal?.aborted).toBe(true);
    expect(run.count()).toBe(0);
  });

  test("gets one over its socket, and does not keep the server from closing", async () => {
    const { handler, asked } = createWaitingHandler("authorize");
    await using server = await startNodeServer(handler);
    using client = connectRaw(server.port, requestHead(), requestBody);
    await within(AT_ONCE_MS, "authorize", asked);
    await handler.close();
    const isClosed = new Promise((resolve) => server.server.close(resolve));
    await within(AT_ONCE_MS, "the end of the connection", client.ended);
    expect(client.text()).toMatch(/^HTTP\/1\.1 503 [\s\S]*"HUMAN_PLUS_AG_UI_SHUTDOWN"/);
    await within(AT_ONCE_MS, "the end of the server", isClosed);
  });

  test("gets one even if its body never comes whole", async () => {
    const { run } = createTalkingRun();
    const seen = Promise.withResolvers<void>();
    const handler = createAgUiHandler({ authorize: () => ({}), run });
    await using server = await startNodeServer((request) => {
      seen.resolve();
      return handler(request);
    });
    using client = connectRaw(server.port, requestHead(), requestBody.slice(0, 10));
    await within(AT_ONCE_MS, "the request", seen.promise);
    await handler.close();
    const isClosed = new Promise((resolve) => server.server.close(resolve));
    await within(AT_ONCE_MS, "the end of the connection", client.ended);
    expect(client.text()).toMatch(/^HTTP\/1\.1 503 /);
    await within(AT_ONCE_MS, "the end of the server", isClosed);
  });
});

describe("a stream that goes on when the server shuts down", () => {
  test("ends, its run is aborted, and clients of every version live on", async () => {
    const runs = clientVersions.map(() => createTalkingRun());
    let index = 0;
    const handler = createAgUiHandler({
      authorize: () => ({}),
      run: (context) => (runs[index++] as (typeof runs)[number]).run(context),
    });
    await using server = await startNodeServer(handler);
    await using clients = startClientProcess(server.url);
    await clients.seen("TEXT_MESSAGE_CONTENT");
    await within(AT_ONCE_MS, "close", handler.close());
    const isClosed = new Promise((resolve) => server.server.close(resolve));
    await within(AT_ONCE_MS, "the end of the runs", Promise.all(runs.map(({ aborted }) => aborted)));
    await within(AT_ONCE_MS, "the end of the server", isClosed);
    expect(await within(AT_ONCE_MS, "the end of the clients", clients.ended())).toEqual({ code: 0, stderr: "" });
    for (const version of clientVersions) {
      const lines = clients.lines.filter((line) => line.version === version);
      expect(lines.filter(({ type }) => /^RUN_(ERROR|FINISHED)$/.test(type))).toMatchObject([
        { type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_SHUTDOWN" },
      ]);
      expect(lines.at(-1)).toEqual({ version, type: "settled" });
    }
  });

  describe("though its reader has stopped", () => {
    async function stopReading(stallTimeoutMs: number) {
      const run = createTalkingRun({ bytes: 60_000, pauseMs: 0 });
      const limits = { stallTimeoutMs, maxQueuedEvents: 8, maxStreamBytes: 67_108_864 };
      const handler = createAgUiHandler({ authorize: () => ({}), run: run.run, limits });
      const server = await startNodeServer(handler);
      const client = connectRaw(server.port, requestHead("/", { connection: "close" }), requestBody);
      await client.seen("TEXT_MESSAGE_CONTENT");
      client.socket.pause();
      await run.stuck();
      await within(AT_ONCE_MS, "close", handler.close({ graceMs: 100 }));
      await within(AT_ONCE_MS, "the abort of the run", run.aborted);
      const isClosed = new Promise((resolve) => server.server.close(resolve));
      return { server, client, isClosed };
    }

    test("ends for one who comes back", async () => {
      const { server, client, isClosed } = await stopReading(60_000);
      await using _ = server;
      client.socket.resume();
      await within(AT_ONCE_MS, "the end of the server", isClosed);
      await within(AT_ONCE_MS, "the end of the connection", client.ended);
      expect(client.text().match(/"type":"RUN_(ERROR|FINISHED)"/g)).toEqual(['"type":"RUN_ERROR"']);
      expect(client.text()).toContain("HUMAN_PLUS_AG_UI_SHUTDOWN");
      expect(client.text()).toMatch(/\r\n0\r\n\r\n$/);
    });

    test("does not keep the server from closing for one who does not", async () => {
      cutOff("it is given up");
      const { server, client, isClosed } = await stopReading(STALL_MS);
      await using _ = server;
      using _client = client;
      await within(STALL_MS + AT_ONCE_MS, "the end of the server", isClosed);
    });
  });

  test.each([
    ["is told to stop", false],
    ["hears of nothing", true],
  ])("ends where it follows a run that is read again, whose source %s", async (_, isDeaf) => {
    const store = new EventStore();
    const run = { ownership: { tenantId: "t" }, sessionId: "s", runId: "r" };
    store.append(run, { type: "agent_started" }, { type: "turn_started", turn: 1 });
    const handler = createAgUiHandler({
      authorize: () => ({}),
      run: createTalkingRun().run,
      replay: {
        source: {
          page: (request) => store.page(request),
          subscribe: ({ signal, ...request }) => store.subscribe(isDeaf ? request : { ...request, signal }),
        },
        resolveRun: () => run,
      },
    });
    const { body } = await handler(webRequest("?cursor="));
    const seen = Promise.withResolvers<void>();
    const all = readAll(body, (text) => text.includes('"eventId":"e1"') && seen.resolve());
    await within(AT_ONCE_MS, "what is stored", seen.promise);
    await within(AT_ONCE_MS, "close", handler.close());
    expect(endOf(await within(AT_ONCE_MS, "the end of the stream", all))).toBe("HUMAN_PLUS_AG_UI_SHUTDOWN");
  });
});
