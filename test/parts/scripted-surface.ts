import { createHumanPlus, type HumanPlus, type HumanPlusOptions } from "@human-plus/core";
import { methods } from "@human-plus/core/protocol";
import { type RunningRelay, startRelay } from "@human-plus/relay";
import { createSseTransport } from "@human-plus/transport-sse";
import { connectRawSurface, type RawRequest } from "./raw-surface.ts";

/** What a surface does with a request: gives a result, an error, whole frames as they are, or nothing at all. */
export type Answer = { result: object } | { error: object } | { frames: object[] } | undefined;
export type Answering = (request: RawRequest, surface: ScriptedSurface) => Answer | Promise<Answer>;

/** A surface that does as a test says, on a real relay. */
export interface ScriptedSurface extends AsyncDisposable {
  readonly relay: RunningRelay;
  readonly invitation: {
    relayBaseUrl: string;
    sessionId: string;
    token: string;
    surfaceId: string;
    application: string;
  };
  /** Frames of agents, in the order in which they arrived. */
  readonly frames: RawRequest[];
  send(frame: object): Promise<void>;
  /** Resolves once a frame of this method arrived. */
  arrival(method: string): Promise<void>;
  /** A client of its own, closed with the surface. */
  createClient(options?: Partial<HumanPlusOptions>): HumanPlus;
}

const session = "scripted-surface";
const token = "scripted-surface-token-0123456789";
const fromRelay: readonly string[] = [methods.peerJoined, methods.peerLeft];

/** Answers what every MCP server answers, and the rest as the test says. */
export async function startScriptedSurface(answering: Answering): Promise<ScriptedSurface> {
  const relay = await startRelay();
  const clients: HumanPlus[] = [];
  const frames: RawRequest[] = [];
  const waiting: Array<{ method: string; resolve: () => void }> = [];
  const raw = await connectRawSurface({
    baseUrl: relay.url,
    session,
    token,
    onRequest: () => undefined,
    onFrame(frame) {
      if (fromRelay.includes(frame.method)) return;
      frames.push(frame);
      for (const { method, resolve } of waiting) if (frame.method === method) resolve();
      // The test may end in between; whoever asked then sees it from the other end.
      if (frame.id !== undefined) answer(frame).catch(() => undefined);
    },
  });
  const answer = async (request: RawRequest) => {
    const given = (await answering(request, surface)) ?? standardAnswer(request);
    if (given === undefined) return;
    for (const frame of "frames" in given ? given.frames : [{ jsonrpc: "2.0", id: request.id, ...given }]) {
      await raw.send(frame);
    }
  };
  const surface: ScriptedSurface = {
    relay,
    invitation: { relayBaseUrl: relay.url, sessionId: session, token, surfaceId: "board", application: "canvas" },
    frames,
    send: raw.send,
    async arrival(method) {
      if (frames.some((frame) => frame.method === method)) return;
      await new Promise<void>((resolve) => waiting.push({ method, resolve }));
    },
    createClient(options = {}) {
      const client = createHumanPlus({
        transport: createSseTransport({ egress: { unverified: true } }),
        ...options,
      });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await raw[Symbol.asyncDispose]();
      await relay.close();
    },
  };
  return surface;
}

function standardAnswer({ method }: RawRequest): Answer {
  switch (method) {
    case methods.initialize:
      return {
        result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "scripted", version: "1" } },
      };
    case methods.listTools:
      return { result: { tools: [{ name: "read" }, { name: "write" }] } };
    default:
      return undefined;
  }
}
