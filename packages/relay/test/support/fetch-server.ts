import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FetchHandler } from "../../src/fetch.ts";

/** Mounts a fetch handler on a `node:http` server, with backpressure and aborts. */
export function createFetchServer(handler: FetchHandler): Server {
  return createServer((request, response) => {
    serve(handler, request, response).catch(() => response.destroy());
  });
}

async function serve(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const aborter = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) aborter.abort();
  });
  const hasBody = incoming.method === "POST";
  const response = await handler(
    new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as [string, string]] : [],
      ),
      signal: aborter.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" } : {}),
    } as RequestInit),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) break;
    if (outgoing.destroyed) {
      await reader?.cancel();
      return;
    }
    if (!outgoing.write(part.value)) await drained(outgoing);
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
  });
}
