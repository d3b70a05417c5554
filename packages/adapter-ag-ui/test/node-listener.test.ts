import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createAgUiHandler } from "../src/handler/create-ag-ui-handler.ts";
import { nodeListener } from "../src/handler.ts";

afterEach(() => void vi.useRealTimers());

async function ask(listener: RequestListener): Promise<Response> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
    return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const cookies = ["a=1; Path=/", "b=2; HttpOnly"] as const;

async function withCookies(): Promise<Response> {
  const response = new Response(null, { status: 204, headers: { "x-run": "r" } });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return response;
}

test.each<readonly [string, () => unknown]>([
  ["handler should be a function, is undefined", () => nodeListener(undefined as never)],
  ["handler should be a function, is an object", () => nodeListener({ handler: withCookies } as never)],
  ["origin should be a URL without a path, is 7", () => nodeListener(withCookies, { origin: 7 as never })],
  [
    'origin should be a URL without a path, is "example.org"',
    () => nodeListener(withCookies, { origin: "example.org" }),
  ],
  ['options should hold no "host": there is no such option', () => nodeListener(withCookies, { host: "x" } as never)],
])("what cannot be bound is refused at once: %s", (message, bind) => {
  expect(bind).toThrow(expect.objectContaining({ code: "invalid_argument", message }));
});

test("an answer keeps each of its cookies", async () => {
  const { status, headers } = await ask(nodeListener(withCookies));
  expect({ status, run: headers.get("x-run") }).toEqual({ status: 204, run: "r" });
  expect(headers.getSetCookie()).toEqual(cookies);
});

test("so does one to which the server has added headers before", async () => {
  const answer = nodeListener(withCookies);
  const { headers } = await ask((incoming, outgoing) => {
    outgoing.setHeader("access-control-allow-origin", "*");
    answer(incoming, outgoing);
  });
  expect(headers.getSetCookie()).toEqual(cookies);
  expect(headers.get("access-control-allow-origin")).toBe("*");
});

test("the connection of a reader who takes nothing of an answer that is over is given up after 30 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const answer = async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(33_554_432)); // more than is on the way
          controller.close();
        },
      }),
    );
  const server = createServer(nodeListener(answer)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    const [connection] = (await once(server, "connection")) as [Socket];
    socket.pause().write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    const closed = once(connection, "close");
    while (connection.writableLength === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(29_999);
    expect(connection.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    await closed;
  } finally {
    socket.destroy();
    server.close();
  }
});

test("a stream of which everything was taken is over, whether its reader asks on or not", async () => {
  const handler = createAgUiHandler({
    authorize: () => ({}),
    async *run() {
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hello" };
    },
  });
  const body = JSON.stringify({ threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "hi" }] });
  const headers = { "content-type": "application/json" };
  const response = await handler(new Request("http://agent.example/", { method: "POST", headers, body }));
  const reader = response.body?.getReader();
  for (let text = ""; !text.includes("RUN_FINISHED"); ) text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.closed;
});
