import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { Invitation, type RelayTransport } from "@human-plus/core";
import { eventStream, type Notification, type Request } from "@human-plus/core/protocol";
import { createSseTransport, type SseTransportOptions } from "../src/index.ts";

export const TOKEN = "token-0123456789abcdef-SECRET";

/** One request as it came. */
export interface Arrival {
  readonly client: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  readonly socket: Socket;
}

export interface FrameArrival extends Arrival {
  readonly frame: Request | Notification;
}

export interface RawRelayOptions {
  /** What happens when a stream is asked for. @default it opens */
  onEvents?: (arrival: Arrival, relay: RawRelay) => void;
  /** What happens to a frame. @default accepted, and a request is answered with its params */
  onFrame?: (arrival: FrameArrival, relay: RawRelay) => void;
  /** What happens when a client leaves. @default accepted */
  onUnregister?: (arrival: Arrival, relay: RawRelay) => void;
  /** Serves https with this. */
  tls?: { key: string; cert: string };
}

/** A relay that does as a test says, over real sockets. */
export interface RawRelay extends AsyncDisposable {
  readonly baseUrl: string;
  readonly streams: Arrival[];
  readonly frames: FrameArrival[];
  readonly unregistered: Arrival[];
  /** Connections that were made, whatever came over them. */
  readonly connections: () => number;
  /** Sockets that are open now. */
  readonly sockets: Set<Socket>;
  /** Resolves once `isTrue` holds; looks again whenever something arrives or ends. */
  until(isTrue: () => boolean): Promise<void>;
  /** Writes to the newest stream of a client. */
  write(client: string, text: string | Uint8Array): void;
}

export async function startRawRelay(options: RawRelayOptions = {}): Promise<RawRelay> {
  const { onEvents = openStream, onFrame = echo, onUnregister = accept, tls } = options;
  const watchers = new Set<() => void>();
  const sockets = new Set<Socket>();
  let connections = 0;
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", "http://relay");
    const client = url.searchParams.get("client") ?? "";
    const arrival: Arrival = { client, url, headers: request.headers, response, socket: request.socket };
    response.on("close", changed);
    if (url.pathname.endsWith("/events")) {
      relay.streams.push(arrival);
      onEvents(arrival, relay);
    } else {
      const body = await textOf(request);
      if (url.pathname.endsWith("/unregister")) {
        relay.unregistered.push(arrival);
        onUnregister(arrival, relay);
      } else {
        const framed = { ...arrival, frame: JSON.parse(body) };
        relay.frames.push(framed);
        onFrame(framed, relay);
      }
    }
    changed();
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.on("error", () => {});
    changed();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const relay: RawRelay = {
    baseUrl: tls === undefined ? `http://127.0.0.1:${port}/relay` : `https://localhost:${port}/relay`,
    streams: [],
    frames: [],
    unregistered: [],
    connections: () => connections,
    sockets,
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
    write(client, text) {
      relay.streams.findLast((stream) => stream.client === client)?.response.write(text);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return relay;
}

export function openStream({ response }: Arrival): void {
  response.writeHead(200, { "content-type": eventStream.contentType });
  response.write("retry: 100\n\n");
}

export function accept({ response }: Arrival): void {
  response.writeHead(202, { "content-type": "application/json" }).end('{"ok":true}');
}

export function refuse(
  { response }: Arrival,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

function echo(arrival: FrameArrival, relay: RawRelay): void {
  accept(arrival);
  if (arrival.frame.id !== undefined) relay.write(arrival.client, replyEvent(arrival.frame));
}

/** The event that carries the answer to a request: its params. */
export function replyEvent(request: Request | Notification, id?: string): string {
  const frame = { jsonrpc: "2.0", id: request.id, result: { echo: request.params ?? {} } };
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${eventStream.frameEvent}\ndata: ${JSON.stringify(frame)}\n\n`;
}

export function frameEvent(frame: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${eventStream.frameEvent}\ndata: ${JSON.stringify(frame)}\n\n`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    // The client went away in mid-request; the test sees it from its own end.
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function linkTo(relayBaseUrl: string, id = "attachment-1#0") {
  return {
    id,
    client: "agent-1",
    invitation: new Invitation({
      relayBaseUrl,
      sessionId: "session-1",
      token: TOKEN,
      surfaceId: "canvas",
      application: "board",
    }),
  };
}

export function request(params: Record<string, unknown> = {}): Request {
  return { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params };
}

/** A transport that is closed with its test. */
export function openTransport(options: Partial<SseTransportOptions> = {}): RelayTransport & AsyncDisposable {
  const transport = createSseTransport({ egress: { unverified: true }, ...options });
  return { ...transport, [Symbol.asyncDispose]: () => transport.close() };
}
