import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Invitation, type RelayTransport } from "@human-plus/core";
import type { Notification, RelayLink, Request } from "@human-plus/core/protocol";
import { createLongPollTransport, type LongPollTransportOptions } from "../src/index.ts";

export const TOKEN = "token-0123456789abcdef-SECRET";
export const LONG = { timeoutMs: 20_000 };

/** One poll as it came. */
export interface PollArrival {
  readonly url: URL;
  readonly route: string;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly at: number;
}

export interface PollEndpointOptions {
  /** What happens to a poll. @default it is answered with what is there, at once */
  onPoll?: (arrival: PollArrival, endpoint: PollEndpoint) => void;
  /** What happens to a frame. @default accepted, and a request is answered with its params */
  onFrame?: (frame: Request | Notification, response: ServerResponse, endpoint: PollEndpoint) => void;
}

/** A relay that does as a test says, over real sockets, and knows polls only. */
export interface PollEndpoint extends AsyncDisposable {
  readonly baseUrl: string;
  readonly polls: PollArrival[];
  readonly frames: (Request | Notification)[];
  readonly sockets: Set<Socket>;
  /** What waits for a poll. */
  readonly queue: unknown[];
  /** Adds to it. */
  give(frame: unknown): void;
  until(isTrue: () => boolean): Promise<void>;
}

export async function startPollEndpoint(options: PollEndpointOptions = {}): Promise<PollEndpoint> {
  const { onPoll = answerAtOnce, onFrame = echo } = options;
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://relay");
    response.on("close", changed);
    if (request.method === "GET") {
      const route = url.pathname.split("/").slice(3).join("/");
      const { headers, socket } = request;
      const arrival: PollArrival = { url, route, headers, response, socket, at: performance.now() };
      endpoint.polls.push(arrival);
      onPoll(arrival, endpoint);
    } else {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString("utf8");
      if (url.pathname.endsWith("/inbox")) {
        const frame = JSON.parse(text);
        endpoint.frames.push(frame);
        onFrame(frame, response, endpoint);
      } else accept(response);
    }
    changed();
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint: PollEndpoint = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/relay`,
    polls: [],
    frames: [],
    sockets,
    queue: [],
    give(frame) {
      endpoint.queue.push(frame);
      changed();
    },
    until: (isTrue) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isTrue()) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}

export function answerJson(response: ServerResponse, body: unknown, status = 200): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}

export function accept(response: ServerResponse): void {
  answerJson(response, { ok: true }, 202);
}

/** Knows no waiting: gives what there is. */
export function answerAtOnce({ response }: PollArrival, { queue }: PollEndpoint): void {
  if (queue.length === 0) response.writeHead(204).end();
  else answerJson(response, queue.splice(0));
}

/** Waits for as long as it was asked to, or until there is something. */
export function answerInTime(unitMs: number) {
  return (arrival: PollArrival, endpoint: PollEndpoint): void => {
    const end = setTimeout(
      () => answerAtOnce(arrival, endpoint),
      Number(arrival.url.searchParams.get("wait")) * unitMs,
    );
    void endpoint
      .until(() => endpoint.queue.length > 0 || arrival.response.destroyed)
      .then(() => {
        clearTimeout(end);
        if (!arrival.response.writableEnded && !arrival.response.destroyed) answerAtOnce(arrival, endpoint);
      });
  };
}

export function replyTo(request: Request | Notification): unknown {
  return { jsonrpc: "2.0", id: request.id, result: { echo: request.params ?? {} } };
}

function echo(frame: Request | Notification, response: ServerResponse, endpoint: PollEndpoint): void {
  accept(response);
  if (frame.id !== undefined) endpoint.give(replyTo(frame));
}

export function linkTo(relayBaseUrl: string, id = "attachment-1#0"): RelayLink {
  const where = { relayBaseUrl, sessionId: "session-1", token: TOKEN, surfaceId: "canvas", application: "board" };
  return { id, client: "agent-1", invitation: new Invitation(where) };
}

export function request(params: Record<string, unknown> = {}): Request {
  return { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params };
}

/** A transport that is closed with its test. */
export function openTransport(options: Partial<LongPollTransportOptions> = {}): RelayTransport & AsyncDisposable {
  const transport = createLongPollTransport({ egress: { unverified: true }, ...options });
  return { ...transport, [Symbol.asyncDispose]: () => transport.close() };
}
