import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FetchHandler } from "@human-plus/relay";

/** Serves a fetch handler over `node:http`, as runtimes of that kind do. */
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
  const headers = Object.entries(incoming.headers).filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  const method = incoming.method ?? "GET";
  const init: RequestInit = { method, headers, signal: aborter.signal };
  if (method === "POST")
    Object.assign(init, { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" });
  const answer = await handler(new Request(`http://relay${incoming.url}`, init));
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  outgoing.flushHeaders();
  if (answer.body !== null) {
    const reader = answer.body.getReader();
    outgoing.once("close", () => void reader.cancel().catch(() => {}));
    for (let part = await reader.read(); !part.done; part = await reader.read()) outgoing.write(part.value);
  }
  outgoing.end();
}
