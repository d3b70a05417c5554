import { randomBytes } from "node:crypto";
import { Invitation } from "@human-plus/core";
import type { Notification, Request } from "@human-plus/core/protocol";
import { createSseTransport } from "@human-plus/transport-sse";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CuttingProxy, startCuttingProxy } from "./parts/cutting-proxy.ts";
import { connectRawSurface, type RawRequest, type RawSurface } from "./parts/raw-surface.ts";
import { type RelayProcess, startRelayProcess } from "./parts/relay-process.ts";

const token = randomBytes(16).toString("hex");
const LONG = { timeoutMs: 25_000 };

function invitation(port: number, session: string): Invitation {
  const relayBaseUrl = `http://127.0.0.1:${port}/agent-relay`;
  return new Invitation({ relayBaseUrl, sessionId: session, token, surfaceId: "canvas", application: "test" });
}

function openTransport() {
  const transport = createSseTransport({ egress: { unverified: true } });
  return { ...transport, [Symbol.asyncDispose]: () => transport.close() };
}

const request = (n: number, from = ""): Request => ({
  jsonrpc: "2.0",
  id: crypto.randomUUID(),
  method: "tools/call",
  params: { n, from },
});

describe("cutting the event stream", () => {
  let relay: RelayProcess;
  let proxy: CuttingProxy;
  let surface: RawSurface;
  const carriedOut = new Map<string, number>();

  beforeAll(async () => {
    relay = await startRelayProcess();
    proxy = await startCuttingProxy(relay.port);
    surface = await connectRawSurface({
      baseUrl: relay.baseUrl,
      session: "cuts",
      token,
      onRequest(asked: RawRequest) {
        carriedOut.set(asked.id, (carriedOut.get(asked.id) ?? 0) + 1);
        return { n: asked.params?.["n"], from: asked.params?.["from"] };
      },
    });
  });

  afterAll(async () => {
    await surface[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await relay[Symbol.asyncDispose]();
  });

  test("1,000 times between POST and reply loses, repeats and misroutes none", { timeout: 120_000 }, async () => {
    await using transport = openTransport();
    const ROUNDS = 1_000;
    const LINKS = 50;
    let cuts = 0;
    const heard: string[] = [];
    transport.onNotification((_, { params }: Notification) => heard.push(String(params?.["id"])));

    async function agent(index: number): Promise<void> {
      const from = `agent-${index}`;
      const link = { id: from, client: from, invitation: invitation(proxy.port, "cuts") };
      for (let round = 0; round < ROUNDS / LINKS; round++) {
        const asked = request(round, from);
        const answer = transport.exchange(link, asked, LONG);
        // Each exchange meets a cut at a moment of its own: before its POST, while it is under way, or after its reply.
        setTimeout(() => {
          cuts += proxy.cutStreams() > 0 ? 1 : 0;
        }, Math.random() * 12);
        expect(await answer).toEqual({ jsonrpc: "2.0", id: asked.id, result: { n: round, from } });
        expect(carriedOut.get(String(asked.id))).toBe(1);
      }
    }

    await Promise.all(Array.from({ length: LINKS }, (_, index) => agent(index)));
    expect(cuts).toBeGreaterThan(ROUNDS / 4);
    expect(new Set(heard).size).toBe(heard.length);
  });
});
