import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { EventEncoder } from "@ag-ui/encoder";
import { createAgUiHandler, nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { describe, expect, test } from "vitest";
import { assertGood, completeInput } from "../judge.ts";
import { serve } from "../parts/serve.ts";
import { readSseBody } from "../parts/sse-frames.ts";

async function* run() {
  yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Grüße\r\n\r\n[DONE]\n\ndata: x" };
}
const handler = createAgUiHandler({ authorize: () => ({}), run });
const protobuf = "application/vnd.ag-ui.event+proto";

const ask = (accept: string | undefined, more: object = {}, handle = handler) =>
  handle(
    new Request("http://agent.example/", {
      method: "POST",
      headers: { "content-type": "application/json", ...(accept === undefined ? {} : { accept }) },
      body: JSON.stringify({ ...completeInput(), ...more }),
    }),
  );

describe("a stream", () => {
  test("is SSE with frames that end in LF LF, whatever is in them", async () => {
    const { body, clients } = await assertGood({ handler });
    expect(body).not.toContain("\r");
    expect(clients.map(({ messages }) => messages.at(-1)?.content)).toEqual(
      Array.from({ length: 3 }, () => "Grüße\r\n\r\n[DONE]\n\ndata: x"),
    );
  });

  test("has the headers that keep proxies and browsers from touching it", async () => {
    const { status, headers } = await ask("*/*");
    expect([status, Object.fromEntries(headers)]).toEqual([
      200,
      {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
      },
    ]);
  });

  test("says which version made it, and whose run it is", async () => {
    const { events } = readSseBody(await (await ask("text/event-stream", { parentRunId: "r0" })).text());
    expect(events[0]).toEqual({
      type: "RUN_STARTED",
      threadId: "t",
      runId: "r",
      parentRunId: "r0",
      protocolVersion: "1.0",
    });
  });

  test("closes promptly after its end, though the run winds up", async () => {
    let isOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    let isWoundUp = false;
    const slow = createAgUiHandler({
      authorize: () => ({}),
      async *run() {
        yield { type: "RUN_FINISHED" };
        await over;
        isWoundUp = true;
      },
    });
    const text = await (await ask(undefined, {}, slow)).text();
    expect([text.includes("RUN_FINISHED"), isWoundUp]).toEqual([true, false]);
    isOver();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isWoundUp).toBe(true);
  });
});

describe("protobuf", () => {
  test("is for clients of today that ask for it by name, and all they get", async () => {
    const response = await ask(`${protobuf}, text/event-stream;q=0.5`, { protocolVersion: "1.0" });
    expect(response.headers.get("content-type")).toBe(protobuf);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const encoder = new EventEncoder({ accept: protobuf });
    const first = encoder.encodeBinary({
      type: "RUN_STARTED",
      threadId: "t",
      runId: "r",
      protocolVersion: "1.0",
    } as never);
    expect(bytes.slice(0, first.length)).toEqual(new Uint8Array(first));
    const view = new DataView(bytes.buffer);
    let frames = 0;
    for (let at = 0; at < bytes.length; frames++) at += 4 + view.getUint32(at);
    expect(frames).toBe(5);
  });

  test("is read by the real client", async () => {
    const { HttpAgent } = await import("@ag-ui/client");
    await using server = await serve(nodeListener(handler));
    const types: string[] = [];
    const agent = new HttpAgent({
      url: server.url,
      fetch: (url, init) => fetch(url, { ...init, headers: { ...(init?.headers as object), accept: protobuf } }),
      initialMessages: [{ id: "u1", role: "user", content: "x" }],
    });
    await agent.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
    expect(types).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  test.each([
    ["a wildcard", "*/*", { protocolVersion: "1.0" }],
    ["a wildcard of its kind", "application/*", { protocolVersion: "1.0" }],
    ["nothing", undefined, { protocolVersion: "1.0" }],
    ["a client that cannot read most of it", protobuf, {}],
  ])("is not for %s", async (_, accept, more) => {
    expect((await ask(accept, more)).headers.get("content-type")).toMatch(/^text\/event-stream/);
  });

  test("is SSE where the encoder is not installed", async () => {
    const bare = createAgUiHandler({
      authorize: () => ({}),
      run,
      encoder: () => Promise.reject(new Error("not found")),
    });
    expect((await ask(protobuf, { protocolVersion: "1.0" }, bare)).headers.get("content-type")).toMatch(/^text\//);
  });
});

describe("a listener of node:http", () => {
  async function listening(handle = handler) {
    const server = createServer(nodeListener(handle)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      port: (server.address() as AddressInfo).port,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    };
  }

  test("hands on method, path, query, headers and body", async () => {
    const seen: unknown[] = [];
    const { port, ...server } = await listening(
      Object.assign(
        async (request: Request) => {
          const { method, url, headers } = request;
          seen.push([method, url, headers.get("x-two"), await request.text()]);
          return new Response("ok", { status: 201, headers: { "x-back": "1" } });
        },
        { capabilities: {}, close: async () => undefined },
      ),
    );
    await using _ = server;
    const response = await fetch(`http://127.0.0.1:${port}/a/b?c=d`, {
      method: "PUT",
      headers: { "x-two": "zwei" },
      body: "body",
    });
    expect([response.status, response.headers.get("x-back"), await response.text()]).toEqual([201, "1", "ok"]);
    expect(seen).toEqual([["PUT", "http://localhost/a/b?c=d", "zwei", "body"]]);
  });

  test("keeps the connection over refusals and runs, also of bodies that are too large", async () => {
    const { port, ...server } = await listening();
    await using _ = server;
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    const send = async (body: string, until: RegExp) => {
      text = "";
      socket.write(
        `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      while (!until.test(text)) await once(socket, "data");
    };
    await send("{", /400 Bad Request[\s\S]*Invalid JSON request body/);
    await send("x".repeat(200_000), /413 [\s\S]*maxRequestBytes/);
    await send("x".repeat(2_000_000), /413 [\s\S]*maxRequestBytes/);
    await send(JSON.stringify(completeInput()), /RUN_FINISHED[\s\S]*\r\n0\r\n\r\n$/);
    socket.destroy();
  });

  test("takes of a body what is read, and leaves the rest to the network", async () => {
    let taken = 0;
    const handle = async (request: Request) => {
      const reader = request.body?.getReader();
      await reader?.read();
      await new Promise((resolve) => setTimeout(resolve, 50));
      taken = socket?.bytesRead ?? Number.NaN;
      await reader?.cancel();
      return new Response("enough");
    };
    let socket: Socket | undefined;
    const server = createServer(nodeListener(handle)).listen(0, "127.0.0.1");
    server.on("connection", (each) => {
      socket = each;
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: new Uint8Array(50_000_000) });
    expect(await response.text()).toBe("enough");
    expect(taken).toBeLessThan(5_000_000);
    server.closeAllConnections();
    server.close();
  });

  test.each([
    ["OPTIONS", "*", 405],
    ["OPTIONS", "//evil.example/x", 405],
    ["POST", "//[", 415],
    ["TRACE", "/", 400],
  ])("survives %s %s", async (method, path, status) => {
    const { port, ...server } = await listening();
    await using _ = server;
    const outgoing = httpRequest({ port, host: "127.0.0.1", method, path }).end();
    const [incoming] = await once(outgoing, "response");
    expect(incoming.statusCode).toBe(status);
    incoming.resume();
  });

  test("survives a handler that throws", async () => {
    const broken = Object.assign(() => Promise.reject(new Error("secret")), {
      capabilities: {},
      close: async () => undefined,
    });
    const { port, ...server } = await listening(broken);
    await using _ = server;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect([response.status, await response.text()]).toEqual([500, ""]);
  });
});
