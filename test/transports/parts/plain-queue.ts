import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { RawSurfaceOptions } from "../../parts/raw-surface.ts";

export interface PlainQueueOptions extends Pick<RawSurfaceOptions, "session" | "token" | "onRequest"> {
  /** Hears every frame of an agent. */
  onFrame?: ((frame: Frame) => void) | undefined;
}

interface Frame {
  readonly id?: string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/**
 * An endpoint that only keeps frames until somebody asks: it ignores `wait`, knows no cursors and no event streams, and
 * its surface is a function.
 */
export async function startPlainQueue({ session, token, onRequest, onFrame }: PlainQueueOptions) {
  const queues = new Map<string, unknown[]>();
  const polls: { readonly url: URL; readonly at: number }[] = [];
  const queueOf = (client: string) => {
    const queue = queues.get(client) ?? [];
    queues.set(client, queue);
    return queue;
  };

  async function take(client: string, frame: Frame): Promise<void> {
    queueOf(client);
    onFrame?.(frame);
    if (frame.id === undefined) return;
    const result = await onRequest(frame as Frame & { id: string });
    if (result !== undefined) queueOf(client).push(answerOf(frame.id, result));
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://queue");
    const [, mount, path, route] = url.pathname.split("/");
    const client = url.searchParams.get("client") ?? "";
    const answer = (status: number, body?: unknown) =>
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(body === undefined ? undefined : JSON.stringify(body));
    const body = await textOf(request);
    if (mount !== "queue" || path !== session) return answer(410, { error: "session_gone" });
    if (url.searchParams.get("token") !== token) return answer(401, { error: "invalid_token" });
    switch (`${request.method} ${route}`) {
      case "POST inbox":
        void take(client, JSON.parse(body));
        return answer(202, { ok: true });
      case "POST unregister":
        queues.delete(client);
        return answer(200, { ok: true });
      case "GET outbox": {
        polls.push({ url, at: performance.now() });
        const frames = queueOf(client).splice(0);
        return frames.length === 0 ? answer(204) : answer(200, frames);
      }
      case "GET poll": {
        polls.push({ url, at: performance.now() });
        const frames = queueOf(client).splice(0);
        return answer(200, { frames: frames.map((frame) => JSON.stringify(frame)) });
      }
      default:
        return answer(404, { error: "not_found" });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/queue`,
    port,
    polls,
    async send(frame: unknown) {
      for (const queue of queues.values()) queue.push(frame);
    },
    connections: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerOf(id: string, result: Record<string, unknown>): unknown {
  return { jsonrpc: "2.0", id, ...("error" in result ? result : { result }) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
