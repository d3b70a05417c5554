import { createParser } from "eventsource-parser";
import { Agent, request } from "undici";

export interface RawRequest {
  readonly id: string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export type RawResult = Record<string, unknown> | undefined;

export interface RawSurfaceOptions {
  baseUrl: string;
  session: string;
  token: string;
  /** Gives the result of a request, or nothing where it is to stay unanswered. */
  onRequest: (request: RawRequest) => RawResult | Promise<RawResult>;
  /** Hears every frame of an agent. */
  onFrame?: ((frame: RawRequest) => void) | undefined;
}

export interface RawSurface extends AsyncDisposable {
  /** Sends a frame to the agents. */
  send(frame: unknown): Promise<void>;
}

/** The surface's half with nothing of ours in it: registers, reads requests, answers them. It comes back when its stream ends. */
export async function connectRawSurface({
  baseUrl,
  session,
  token,
  onRequest,
  onFrame,
}: RawSurfaceOptions): Promise<RawSurface> {
  const agent = new Agent();
  const query = new URLSearchParams({ token });
  let isClosed = false;

  async function post(path: string, body: unknown): Promise<void> {
    const url = `${baseUrl}${path}`;
    const headers = { "content-type": "application/json" };
    const answer = await request(url, { method: "POST", dispatcher: agent, headers, body: JSON.stringify(body) });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`POST ${path.split("?")[0]} was answered with ${answer.statusCode}`);
  }

  const send = (frame: unknown) => post(`/${session}/outbox?${query}`, frame);

  async function answer(asked: RawRequest): Promise<void> {
    const result = await onRequest(asked);
    if (result !== undefined) await send({ jsonrpc: "2.0", id: asked.id, result });
  }

  async function open(): Promise<AsyncIterable<Buffer>> {
    await post("/register", { session, token });
    const url = `${baseUrl}/${session}/events?${query}&direction=inbound`;
    const { statusCode, body } = await request(url, { dispatcher: agent, bodyTimeout: 0, reset: true });
    if (statusCode !== 200) throw new Error(`the stream was answered with ${statusCode}`);
    return body;
  }

  async function follow(stream: AsyncIterable<Buffer>): Promise<void> {
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent({ event, data }) {
        if (event !== "mcp") return;
        const frame: RawRequest = JSON.parse(data);
        onFrame?.(frame);
        if (frame.id === undefined) return;
        // The relay may stop in between; whoever asked then sees it from the other end.
        answer(frame).catch(() => {});
      },
    });
    for await (const chunk of stream) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  async function stay(first: AsyncIterable<Buffer>): Promise<void> {
    for (
      let stream: AsyncIterable<Buffer> | undefined = first;
      !isClosed;
      stream = await open().catch(() => undefined)
    ) {
      if (stream === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      else await follow(stream).catch(() => {});
    }
  }

  const staying = stay(await open());
  return {
    send,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await agent.destroy();
      await staying;
    },
  };
}
