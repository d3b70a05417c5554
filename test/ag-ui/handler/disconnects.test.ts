import { type AgUiHandler, createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { clientVersions, startClientProcess } from "../parts/client-process.ts";
import { createTalkingRun, forever } from "../parts/hanging-runs.ts";
import {
  connectRaw,
  type RawClient,
  requestBody,
  requestHead,
  startNodeServer,
  webRequest,
} from "../parts/node-server.ts";
import { cutOff } from "../taps/recordings.ts";

countUnhandledRejections();

/** How a connection ends that its client gives up. */
const departures: ReadonlyArray<readonly [how: string, leave: (client: RawClient) => void]> = [
  ["closes its socket", ({ socket }) => void socket.destroy()],
  ["resets its connection", ({ socket }) => void socket.resetAndDestroy()],
  ["ends its half of the connection", ({ socket }) => void socket.end()],
];

/** A handler on a socket, and how requests to it went. */
async function startObservedServer(handler: AgUiHandler) {
  const asked = Promise.withResolvers<Request>();
  const answered = Promise.withResolvers<Response>();
  const server = await startNodeServer(async (request) => {
    asked.resolve(request);
    const response = await handler(request);
    answered.resolve(response);
    return response;
  });
  return { ...server, asked: asked.promise, answered: answered.promise };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

describe("a client that goes away while its run goes on", () => {
  test.each(departures)("aborts it, and nothing is left: it %s", async (_, leave) => {
    cutOff("its client goes away");
    const run = createTalkingRun();
    const handler = createAgUiHandler({ authorize: () => ({}), run: run.run });
    await using server = await startObservedServer(handler);
    using client = connectRaw(server.port, requestHead(), requestBody);
    await within(AT_ONCE_MS, "the stream", client.seen("TEXT_MESSAGE_CONTENT"));
    leave(client);
    expect(await within(AT_ONCE_MS, "the abort of the run", run.aborted)).toMatchObject({
      message: "The client went away",
    });
    await within(AT_ONCE_MS, "the abort of the request", aborted((await server.asked).signal));
    // There is no stream left to wait for.
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
    await within(AT_ONCE_MS, "the end of the connection", new Promise((resolve) => server.server.close(resolve)));
  });

  test.each([
    ["cancels the body", true],
    ["aborts the request, and leaves the body alone", false],
  ])("aborts it, where a server %s", async (_, isCancelled) => {
    if (isCancelled) cutOff("its client goes away");
    const run = createTalkingRun();
    const client = new AbortController();
    const handler = createAgUiHandler({ authorize: () => ({}), run: run.run });
    const { body } = await handler(webRequest("", { signal: client.signal }));
    const reader = body?.getReader();
    await reader?.read();
    if (isCancelled) await within(AT_ONCE_MS, "the cancellation", reader?.cancel() ?? forever());
    else client.abort();
    expect(await within(AT_ONCE_MS, "the abort of the run", run.aborted)).toMatchObject({
      message: "The client went away",
    });
    if (!isCancelled)
      while ((await within(AT_ONCE_MS, "the end of the body", reader?.read() ?? forever())).done !== true);
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
  });

  test("aborts it before it says anything", async () => {
    cutOff("its client goes away");
    const asked = Promise.withResolvers<AbortSignal>();
    const handler = createAgUiHandler({
      authorize: () => ({}),
      run({ signal }) {
        asked.resolve(signal);
        return forever();
      },
    });
    await using server = await startNodeServer(handler);
    using client = connectRaw(server.port, requestHead(), requestBody);
    const signal = await within(AT_ONCE_MS, "the run", asked.promise);
    client.socket.destroy();
    await within(AT_ONCE_MS, "the abort of the run", aborted(signal));
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
  });

  test.each([
    ["whose users stop it", false],
    ["whose process dies", true],
  ])("aborts it, with clients of every version %s", async (_, isKilled) => {
    cutOff("their clients go away");
    const runs = clientVersions.map(() => createTalkingRun());
    let index = 0;
    const handler = createAgUiHandler({
      authorize: () => ({}),
      run: (context) => (runs[index++] as (typeof runs)[number]).run(context),
    });
    await using server = await startNodeServer(handler);
    await using clients = startClientProcess(server.url, { stopAfter: isKilled ? "" : "TEXT_MESSAGE_CONTENT" });
    await clients.seen("TEXT_MESSAGE_CONTENT");
    if (isKilled) clients.process.kill("SIGKILL");
    await within(AT_ONCE_MS, "the end of the runs", Promise.all(runs.map(({ aborted: end }) => end)));
    await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
    if (isKilled) return;
    expect(await within(AT_ONCE_MS, "the end of the clients", clients.ended())).toEqual({ code: 0, stderr: "" });
    expect(clients.lines.filter(({ type }) => type === "settled").map(({ rejection }) => rejection)).toEqual(
      clientVersions.map(() => undefined),
    );
  });
});

describe("a client that goes away before its run begins", () => {
  const whole = [requestHead(), requestBody];
  /** What was sent by then, and what the host waits for, if it was asked. */
  const phases: ReadonlyArray<{
    readonly when: string;
    readonly sent: readonly string[];
    readonly hanging?: "authorize" | "project";
  }> = [
    { when: "between headers and body", sent: whole.slice(0, 1) },
    { when: "while its body arrives", sent: [requestHead(), requestBody.slice(0, 10)] },
    { when: "while authorize thinks about it", sent: whole, hanging: "authorize" },
    { when: "while its input is projected", sent: whole, hanging: "project" },
  ];

  function createHost(hanging: "authorize" | "project" | undefined) {
    const hung = Promise.withResolvers<void>();
    const hang = () => {
      hung.resolve();
      return forever();
    };
    const run = createTalkingRun();
    const handler = createAgUiHandler<object>({
      authorize: hanging === "authorize" ? hang : () => ({}),
      ...(hanging === "project" ? { input: { project: hang } } : {}),
      run: run.run,
    });
    const status = hanging === undefined ? 408 : 504;
    return { handler, status, run, hung: hanging === undefined ? undefined : hung.promise };
  }

  describe.each(departures)("and %s", (_, leave) => {
    test.each(phases)("is seen $when: nobody waits for it", async ({ sent, hanging }) => {
      const { handler, status, run, hung } = createHost(hanging);
      await using server = await startObservedServer(handler);
      using client = connectRaw(server.port, ...sent);
      const { signal } = await within(AT_ONCE_MS, "the request", server.asked);
      if (hung !== undefined) await within(AT_ONCE_MS, "the host", hung);
      leave(client);
      await within(AT_ONCE_MS, "the abort of the request", aborted(signal));
      const answer = await within(AT_ONCE_MS, "the end of the request", server.answered);
      expect(answer.status).toBe(status);
      expect(run.count()).toBe(0);
      await within(AT_ONCE_MS, "the end of the connection", new Promise((resolve) => server.server.close(resolve)));
    });
  });

  test.each(phases)("is seen $when, where a server aborts the request", async ({ sent, hanging }) => {
    const { handler, status, run, hung } = createHost(hanging);
    const client = new AbortController();
    const isRead = Promise.withResolvers<void>();
    const isWhole = hanging !== undefined;
    let chunks = sent.slice(1);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
          if (isWhole) controller.close();
          chunks = [];
          isRead.resolve();
          return isWhole ? undefined : forever();
        },
      },
      { highWaterMark: 0 },
    );
    const answer = handler(webRequest("", { body, signal: client.signal, duplex: "half" } as RequestInit));
    await within(AT_ONCE_MS, "the body", hung ?? isRead.promise);
    client.abort();
    expect((await within(AT_ONCE_MS, "the end of the request", answer)).status).toBe(status);
    expect(run.count()).toBe(0);
  });
});
