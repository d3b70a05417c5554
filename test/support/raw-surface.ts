import { createHumanPlus, type HumanPlus, type HumanPlusOptions } from "@human-plus/core";
import {
  methods,
  type Request,
  registerUrl,
  safeParseFrameText,
  sendToAgentsUrl,
  streamEventsUrl,
} from "@human-plus/core/protocol";
import { type RunningRelay, startRelay } from "@human-plus/relay";
import { createSseTransport } from "@human-plus/transport-sse";
import { EventSourceParserStream } from "eventsource-parser/stream";

/** What a test's surface does with a request: gives a result, an error, whole frames as they are, or nothing at all. */
export type Answer = { result: object } | { error: object } | { frames: object[] } | undefined;
export type Answering = (request: Request, surface: RawSurface) => Answer | Promise<Answer>;

/** A surface that does as a test says, on a real relay. */
export interface RawSurface extends AsyncDisposable {
  readonly relay: RunningRelay;
  readonly invitation: {
    relayBaseUrl: string;
    sessionId: string;
    token: string;
    surfaceId: string;
    application: string;
  };
  /** Frames of agents, in the order in which they arrived. */
  readonly frames: Array<{ method?: string; id?: unknown; params?: Record<string, unknown> }>;
  send(frame: object): Promise<void>;
  /** Resolves once a frame of this method arrived. */
  arrival(method: string): Promise<void>;
  /** A client of its own, closed with the surface. */
  createClient(options?: Partial<HumanPlusOptions>): HumanPlus;
}

export const TOKEN = "raw-surface-token-0123456789";

/** Answers what every MCP server answers, and the rest as the test says. */
export async function startRawSurface(answering: Answering): Promise<RawSurface> {
  const relay = await startRelay();
  const invitation = {
    relayBaseUrl: relay.url,
    sessionId: "raw-surface",
    token: TOKEN,
    surfaceId: "board",
    application: "canvas",
  };
  const stop = new AbortController();
  const clients: HumanPlus[] = [];
  const waiting: Array<{ method: string; resolve: () => void }> = [];
  const json = (body: object) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await fetch(registerUrl(relay.url), json({ session: invitation.sessionId, token: TOKEN }));
  const stream = await fetch(streamEventsUrl(relay.url, invitation.sessionId, { token: TOKEN, direction: "inbound" }), {
    signal: stop.signal,
  });
  const surface: RawSurface = {
    relay,
    invitation,
    frames: [],
    async send(frame) {
      await fetch(sendToAgentsUrl(relay.url, invitation.sessionId, { token: TOKEN }), json(frame));
    },
    async arrival(method) {
      if (surface.frames.some((frame) => frame.method === method)) return;
      await new Promise<void>((resolve) => waiting.push({ method, resolve }));
    },
    createClient(options = {}) {
      const client = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }), ...options });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      stop.abort();
      await reading.catch(() => undefined);
      await relay.close();
    },
  };
  const answer = async (request: Request) => {
    const given = (await answering(request, surface)) ?? standardAnswer(request);
    if (given === undefined) return;
    const frames = "frames" in given ? given.frames : [{ jsonrpc: "2.0", id: request.id, ...given }];
    for (const frame of frames) await surface.send(frame);
  };
  const read = async () => {
    const events = (stream.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream() as never)
      .pipeThrough(new EventSourceParserStream());
    for await (const { event, data } of events as unknown as AsyncIterable<{ event?: string; data: string }>) {
      const parsed = event === "mcp" ? safeParseFrameText(data) : undefined;
      if (!parsed?.ok) continue;
      const frame = parsed.value;
      if ("method" in frame && (frame.method === methods.peerJoined || frame.method === methods.peerLeft)) continue;
      surface.frames.push(frame as never);
      for (const { method, resolve } of waiting) if ("method" in frame && frame.method === method) resolve();
      if ("method" in frame && "id" in frame && frame.id !== undefined)
        answer(frame as Request).catch((error: unknown) => {
          if (!stop.signal.aborted) throw error;
        });
    }
  };
  const reading = read();
  return surface;
}

function standardAnswer({ method }: Request): Answer {
  switch (method) {
    case "initialize":
      return { result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "raw", version: "1" } } };
    case "tools/list":
      return { result: { tools: [{ name: "read" }, { name: "write" }] } };
    default:
      return undefined;
  }
}
