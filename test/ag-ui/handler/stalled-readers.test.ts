import { once } from "node:events";
import type { Socket } from "node:net";
import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { expect, test } from "vitest";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { clientVersions, startClientProcess } from "../parts/client-process.ts";
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

/** How long a reader may take nothing before its run is ended, and again before what is left is given up: the least there is. */
const STALL_MS = 1_024;

function createHost({ count = 1, stallTimeoutMs = STALL_MS } = {}) {
  const runs = Array.from({ length: count }, () => createTalkingRun({ bytes: 60_000, pauseMs: 0 }));
  let index = 0;
  const problems: string[] = [];
  const handler = createAgUiHandler({
    authorize: () => ({}),
    run: (context) => (runs[index++] as (typeof runs)[number]).run(context),
    limits: { stallTimeoutMs, maxQueuedEvents: 8, maxStreamBytes: 67_108_864 },
    onProblem: ({ message }) => void problems.push(message),
  });
  const run = runs[0] as (typeof runs)[number];
  return { handler, runs, run, problems };
}

const tooSlow = { message: "The reader is too slow" };

test("over a socket: the run is aborted in time, and one who comes back finds one end", async () => {
  const { handler, run, problems } = createHost();
  await using server = await startNodeServer(handler);
  using client = connectRaw(server.port, requestHead("/", { connection: "close" }), requestBody);
  await client.seen("TEXT_MESSAGE_CONTENT");
  client.socket.pause();
  expect(await within(STALL_MS + AT_ONCE_MS, "the abort of the run", run.aborted)).toMatchObject(tooSlow);
  client.socket.resume();
  await within(AT_ONCE_MS, "the end of the connection", client.ended);
  expect(client.text().match(/"type":"RUN_(ERROR|FINISHED)"/g)).toEqual(['"type":"RUN_ERROR"']);
  expect(client.text()).toContain("HUMAN_PLUS_AG_UI_STALLED");
  expect(client.text()).toMatch(/\r\n0\r\n\r\n$/); // it was not cut
  expect(problems).toEqual([]);
});

test("over a socket: one who never comes back is given up in time, and nothing is kept", async () => {
  cutOff("it is given up");
  const { handler, run } = createHost();
  await using server = await startNodeServer(handler);
  const connected = once(server.server, "connection") as Promise<[Socket]>;
  using client = connectRaw(server.port, requestHead(), requestBody);
  const [connection] = await connected;
  const cut = once(connection, "close");
  await client.seen("TEXT_MESSAGE_CONTENT");
  client.socket.pause();
  expect(await within(STALL_MS + AT_ONCE_MS, "the abort of the run", run.aborted)).toMatchObject(tooSlow);
  await within(STALL_MS + AT_ONCE_MS, "the end of the connection", cut);
  await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
});

test.each([
  ["takes nothing", 0],
  ["takes something, and then nothing", 3],
])("where a server %s of the body: the run is aborted in time, and what is left is given up", async (_, reads) => {
  cutOff("it is given up");
  const { handler, run } = createHost();
  const { body } = await handler(webRequest());
  const reader = body?.getReader();
  for (let read = 0; read < reads; read++) await reader?.read();
  expect(await within(STALL_MS + AT_ONCE_MS, "the abort of the run", run.aborted)).toMatchObject(tooSlow);
  const closed = reader?.closed.then(
    () => "read",
    (error: Error) => error.message,
  );
  expect(await within(STALL_MS + AT_ONCE_MS, "the end of the body", closed ?? forever())).toBe(
    "The reader took nothing for too long",
  );
  await within(AT_ONCE_MS, "close", handler.close({ graceMs: 600_000 }));
});

test("where a server comes back to the body: it finds one end", async () => {
  const { handler, run } = createHost();
  const { body } = await handler(webRequest());
  await within(STALL_MS + AT_ONCE_MS, "the abort of the run", run.aborted);
  expect(endOf(await within(AT_ONCE_MS, "the end of the body", readAll(body)))).toBe("HUMAN_PLUS_AG_UI_STALLED");
});

test("clients of every version that stand still find one end when they go on, and live on", async () => {
  const stallTimeoutMs = 3 * STALL_MS; // so that none is given up before all are late
  const { handler, runs } = createHost({ count: clientVersions.length, stallTimeoutMs });
  await using server = await startNodeServer(handler);
  await using clients = startClientProcess(server.url);
  await clients.seen("TEXT_MESSAGE_CONTENT");
  clients.process.kill("SIGSTOP");
  await within(stallTimeoutMs + AT_ONCE_MS, "the abort of the runs", Promise.all(runs.map(({ aborted }) => aborted)));
  clients.process.kill("SIGCONT");
  expect(await within(2 * AT_ONCE_MS, "the end of the clients", clients.ended())).toEqual({ code: 0, stderr: "" });
  for (const version of clientVersions)
    expect(clients.lines.filter((line) => line.version === version).slice(-2)).toMatchObject([
      { type: "RUN_ERROR", code: "HUMAN_PLUS_AG_UI_STALLED" },
      { type: "settled" },
    ]);
});
