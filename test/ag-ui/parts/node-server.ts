import { once } from "node:events";
import { createServer, type Server, type ServerOptions } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { nodeListener } from "@human-plus/adapter-ag-ui/handler";
import { completeInput } from "../judge.ts";
import { readSseBody } from "./sse-frames.ts";

export interface NodeServer extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
}

/** A handler on a free port of this machine, as its users bind it. */
export async function startNodeServer(
  handler: (request: Request) => Promise<Response>,
  options: ServerOptions = {},
): Promise<NodeServer> {
  const server = createServer(options, nodeListener(handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const closed = once(server, "close");
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await closed;
    },
  };
}

export interface RawClient extends Disposable {
  readonly socket: Socket;
  /** Everything that came. */
  text(): string;
  /** Resolves with everything that came, once that holds this. */
  seen(part: string): Promise<string>;
  /** Resolves once nothing more can come: the server has ended the connection, or cut it. */
  readonly ended: Promise<void>;
}

/** A connection that says what it likes, when it likes. */
export function connectRaw(port: number, ...texts: readonly string[]): RawClient {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let onData: () => void = () => undefined;
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    onData();
  });
  // A cut is one way to end.
  socket.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    socket.once("end", resolve).once("close", () => resolve());
  });
  for (const part of texts) socket.write(part);
  return {
    socket,
    text: () => text,
    async seen(part) {
      while (!text.includes(part))
        await new Promise<void>((resolve) => {
          onData = resolve;
        });
      return text;
    },
    ended,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

export const requestBody: string = JSON.stringify(completeInput());

/** The head of a request for a run. */
export function requestHead(path = "/", { length = requestBody.length, connection = "keep-alive" } = {}): string {
  const lines = ["host: x", "content-type: application/json", `content-length: ${length}`, `connection: ${connection}`];
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** The same for servers that take a `Request`. */
export function webRequest(query = "", init: RequestInit = {}): Request {
  const headers = { "content-type": "application/json" };
  return new Request(`http://agent.example/${query}`, { method: "POST", headers, body: requestBody, ...init });
}

/** Reads a body as it comes. */
export async function readAll(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  onText: (text: string) => void = () => undefined,
): Promise<string> {
  let all = "";
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    all += text;
    onText(all);
  }
  return all;
}

/** The code with which a stream ended, or what its one end was otherwise. Streams that are not in order have none. */
export function endOf(body: string): string {
  const { faults, events } = readSseBody(body);
  const types = events.map((event) => String((event as { type?: unknown }).type));
  const ends = types.filter((type) => /^RUN_(ERROR|FINISHED)$/.test(type));
  if (faults.length > 0 || ends.length !== 1 || types.at(-1) !== ends[0]) return [...faults, ...types].join(", ");
  return String((events.at(-1) as { code?: unknown }).code ?? ends[0]);
}
