import type { IncomingMessage, ServerResponse } from "node:http";
import { describeValue, invalidArgument, refuseUnknown } from "../argument.ts";

/** How long a reader may take for what is left of an answer that is over, in milliseconds, before its connection is given up. */
const LINGER_MS = 30_000;

export interface NodeListenerOptions {
  /** Where the server is reached. Only path and query of a request are taken from what it says. @default "http://localhost" */
  origin?: string | undefined;
}

/**
 * Binds a handler to `node:http`: `http.createServer(nodeListener(handler))`. When a client goes away its run is aborted, a reader
 * that is slow is waited for, and no connection is cut while its run goes on. To shut down: `await handler.close()`, then
 * `server.close()`.
 *
 * @throws HumanPlusError `invalid_argument` that names the option
 */
export function nodeListener(
  handler: (request: Request) => Promise<Response>,
  { origin = "http://localhost", ...unknown }: NodeListenerOptions = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  if (typeof handler !== "function")
    throw invalidArgument(`handler should be a function, is ${describeValue(handler)}`);
  if (typeof origin !== "string" || !URL.canParse(origin))
    throw invalidArgument(`origin should be a URL without a path, is ${describeValue(origin)}`);
  refuseUnknown("options", unknown);
  return (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const request = toRequest(incoming, origin, gone.signal);
    const answer = request === undefined ? new Response(null, { status: 400 }) : handler(request);
    respond(Promise.resolve(answer), outgoing).catch(() => {
      // Either nobody reads any more, or nothing was sent.
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    });
  };
}

/** @returns nothing for what Web standards have no request for, such as TRACE */
function toRequest(incoming: IncomingMessage, origin: string, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/" } = incoming;
  const headers = new Headers();
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2)
    headers.append(String(incoming.rawHeaders[index]), String(incoming.rawHeaders[index + 1]));
  const hasBody = method !== "GET" && method !== "HEAD";
  const init = { method, headers, signal, ...(hasBody ? { body: bodyOf(incoming), duplex: "half" } : {}) };
  try {
    return new Request(`${origin}${url.startsWith("/") ? url : "/"}`, init as RequestInit);
  } catch {
    incoming.resume();
    return undefined;
  }
}

/** The bytes of a request, as fast as they are read. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let onData: ((chunk: Uint8Array) => void) | undefined;
  return new ReadableStream(
    {
      start(controller) {
        onData = (chunk) => {
          incoming.pause();
          controller.enqueue(new Uint8Array(chunk));
        };
        const fail = () => controller.error(new Error("the request broke off"));
        incoming.pause();
        incoming.on("data", onData);
        incoming.once("end", () => {
          incoming.off("close", fail);
          if (onData !== undefined) controller.close();
        });
        incoming.once("close", fail);
        incoming.once("error", fail);
      },
      pull: () => void incoming.resume(),
      cancel() {
        // The rest is thrown away and the connection is kept: the answer goes over it.
        if (onData !== undefined) incoming.off("data", onData);
        onData = undefined;
        incoming.resume();
      },
    },
    { highWaterMark: 0 },
  );
}

async function respond(answer: Promise<Response>, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body } = await answer;
  if (outgoing.destroyed) {
    await body?.cancel();
    return;
  }
  // The rest of such a request may never come, or only in drops.
  if (status === 408 || status === 503) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(status, [...headers].flat()); // a list: there may be several set-cookie
  outgoing.flushHeaders();
  const reader = body?.getReader();
  const onClose = () => void reader?.cancel().catch(() => undefined);
  outgoing.once("close", onClose);
  let isStuck = false;
  // The body was given up because nobody takes it, so nobody takes the end of a connection either.
  reader?.closed.then(
    () => linger(outgoing),
    () => isStuck && outgoing.destroy(),
  );
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done || outgoing.destroyed) break;
    isStuck = !outgoing.write(chunk.value);
    if (isStuck) await drained(outgoing);
    isStuck = false;
  }
  outgoing.off("close", onClose);
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.once("drain", done);
    outgoing.once("close", done);
    if (outgoing.destroyed) done();
  });
}

function linger(outgoing: ServerResponse): void {
  if (outgoing.destroyed) return;
  const timer = setTimeout(() => outgoing.destroy(), LINGER_MS);
  timer.unref();
  outgoing.once("close", () => clearTimeout(timer));
}
