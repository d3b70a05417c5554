import type { ServerOptions } from "node:http";
import { createAgUiHandler } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, countUnhandledRejections, within } from "../parts/bounds.ts";
import { createTalkingRun, forever } from "../parts/hanging-runs.ts";
import {
  connectRaw,
  type RawClient,
  requestBody,
  requestHead,
  startNodeServer,
  webRequest,
} from "../parts/node-server.ts";

countUnhandledRejections();

/** The least that can be asked for, in milliseconds. */
const TIMEOUT_MS = 1_024;

const body = (text: string): Iterator<string> => text[Symbol.iterator]();
const chunked = requestHead().replace(/content-length: \d+/, "transfer-encoding: chunked");

/** One byte after the other, so slowly that the whole takes longer than anybody waits. */
function trickle({ socket }: RawClient, bytes: Iterator<string>): Disposable {
  const timer = setInterval(() => {
    const { done, value } = bytes.next();
    if (done !== true && !socket.destroyed) socket.write(value);
  }, 100);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function* chunks(text: string): Generator<string> {
  for (const byte of text) yield `1\r\n${byte}\r\n`;
}

async function startHost(options: ServerOptions = {}) {
  const run = createTalkingRun();
  let asked = 0;
  const handler = createAgUiHandler({
    authorize() {
      asked++;
      return {};
    },
    run: run.run,
    limits: { requestTimeoutMs: TIMEOUT_MS },
  });
  const server = await startNodeServer(handler, options);
  return { ...server, asked: () => asked, count: run.count };
}

describe("a request that does not come whole is refused in time, and its connection ends", () => {
  test.each([
    ["whose body never begins", requestHead(), body("")],
    ["whose body stops", requestHead(), body(requestBody.slice(0, 5))],
    ["whose body comes byte by byte", requestHead(), body(requestBody)],
    ["whose chunks come byte by byte", chunked, chunks(requestBody)],
    ["that asks to keep its connection no longer", requestHead("/", { connection: "close" }), body(requestBody)],
  ])("one %s", async (_, head, bytes) => {
    await using host = await startHost();
    using client = connectRaw(host.port, head);
    using _trickling = trickle(client, bytes);
    await within(TIMEOUT_MS + AT_ONCE_MS, "the end of the connection", client.ended);
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"HUMAN_PLUS_AG_UI_TIMEOUT"/);
    expect(client.text().match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(host.asked()).toBe(0);
    expect(host.count()).toBe(0);
    await within(AT_ONCE_MS, "the end of the server", new Promise((resolve) => host.server.close(resolve)));
  });

  test("one whose headers never end: that is the server's headersTimeout, and nobody here is asked", async () => {
    await using host = await startHost({ headersTimeout: TIMEOUT_MS, connectionsCheckingInterval: 100 });
    using client = connectRaw(host.port, "POST / HTTP/1.1\r\nhost: x\r\nx-long: ");
    using _trickling = trickle(client, body("x".repeat(10_000)));
    await within(TIMEOUT_MS + AT_ONCE_MS, "the end of the connection", client.ended);
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 /);
    expect(host.asked()).toBe(0);
  });

  test("one whose body a server hands on byte by byte", async () => {
    const run = createTalkingRun();
    const limits = { requestTimeoutMs: TIMEOUT_MS };
    const handler = createAgUiHandler({ authorize: () => ({}), run: run.run, limits });
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        controller.enqueue(new TextEncoder().encode(" "));
      },
      cancel: () => cancelled.resolve(),
    });
    const answer = handler(webRequest("", { body: stream, duplex: "half" } as RequestInit));
    const response = await within(TIMEOUT_MS + AT_ONCE_MS, "the answer", answer);
    expect(response.status).toBe(408);
    await within(AT_ONCE_MS, "the end of the body", cancelled.promise);
    expect(run.count()).toBe(0);
  });
});

test("a request that came whole, and whose host takes too long, is refused in time, and its connection is kept", async () => {
  const limits = { requestTimeoutMs: TIMEOUT_MS };
  const handler = createAgUiHandler({ authorize: forever, run: createTalkingRun().run, limits });
  await using server = await startNodeServer(handler);
  using client = connectRaw(server.port, requestHead(), requestBody);
  await within(TIMEOUT_MS + AT_ONCE_MS, "the answer", client.seen("HUMAN_PLUS_AG_UI_TIMEOUT"));
  expect(client.text()).toMatch(/^HTTP\/1\.1 504 /);
  client.socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await within(AT_ONCE_MS, "another answer", client.seen("HTTP/1.1 405 "));
});
