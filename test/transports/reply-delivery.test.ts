import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { Invitation, type RelayTransport } from "@human-plus/core";
import type { Request } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { startCuttingProxy } from "../parts/cutting-proxy.ts";
import { connectRawSurface, type RawRequest, type RawSurfaceOptions } from "../parts/raw-surface.ts";
import { startRelayProcess } from "../parts/relay-process.ts";
import { transports } from "./parts/transports.ts";

const token = randomBytes(16).toString("hex");
const LONG = { timeoutMs: 25_000 };

function linkTo(port: number, name: string) {
  const relayBaseUrl = `http://127.0.0.1:${port}/agent-relay`;
  const where = { relayBaseUrl, sessionId: "session-1", token, surfaceId: "canvas", application: "test" };
  return { id: name, client: name, invitation: new Invitation(where) };
}

function openSurface(baseUrl: string, onRequest: RawSurfaceOptions["onRequest"]) {
  return connectRawSurface({ baseUrl, session: "session-1", token, onRequest });
}

const request = (n: number, from = ""): Request => ({
  jsonrpc: "2.0",
  id: crypto.randomUUID(),
  method: "tools/call",
  params: { n, from },
});

const upTo = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms));

describe.each(Object.entries(transports))("%s", (name, openTransport) => {
  test("cutting the receiving leg 1,000 times between POST and reply loses, repeats and misroutes none", {
    timeout: 120_000,
  }, async () => {
    await using relay = await startRelayProcess();
    await using proxy = await startCuttingProxy(relay.port);
    const carriedOut = new Map<string, number>();
    const onArrival = new Map<string, () => void>();
    await using _surface = await openSurface(relay.baseUrl, async ({ id, params }: RawRequest) => {
      carriedOut.set(id, (carriedOut.get(id) ?? 0) + 1);
      onArrival.get(id)?.();
      await upTo(10);
      return { ...params };
    });
    await using transport = openTransport();

    async function agent(from: string, cuts: number): Promise<void> {
      for (let n = 0, done = 0; done < cuts; n++) {
        const asked = request(n, from);
        let isAnswered = false;
        onArrival.set(String(asked.id), async () => {
          await upTo(10);
          // The first exchange opens the leg: one that has received nothing yet has no cursor to go on from.
          if (n > 0 && !isAnswered && proxy.cutLegs(`client=${from}.`) > 0) done++;
        });
        const answer = transport.exchange(linkTo(proxy.port, from), asked, LONG).finally(() => {
          isAnswered = true;
        });
        expect(await answer).toEqual({ jsonrpc: "2.0", id: asked.id, result: { n, from } });
        expect(carriedOut.get(String(asked.id))).toBe(1);
      }
    }

    await Promise.all(Array.from({ length: 50 }, (_, index) => agent(`agent-${index}`, 20)));
  });

  test("two processes that share an attachment never receive each other's replies", async () => {
    await using relay = await startRelayProcess();
    await using proxy = await startCuttingProxy(relay.port);
    const baseUrl = relay.baseUrl.replace(String(relay.port), String(proxy.port));
    await using _surface = await openSurface(relay.baseUrl, async ({ params }) => {
      await upTo(20);
      return { ...params };
    });
    const script = join(import.meta.dirname, "../parts/agent-process.ts");
    const right = await Promise.all(
      ["first", "second"].map(async (worker) => {
        const args = ["--conditions=human-plus-source", script, baseUrl, "session-1", token, worker, "200", name];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
        let output = "";
        child.stdout.on("data", (chunk) => {
          output += chunk;
        });
        const [code] = await once(child, "close");
        return { code, right: Number(output) };
      }),
    );
    expect(right).toEqual([
      { code: 0, right: 200 },
      { code: 0, right: 200 },
    ]);
    const served = proxy
      .received()
      .map((text) => [...new Set([...text.matchAll(/"from\\?":\\?"(\w+)/g)].map(([, from]) => from))]);
    expect(served.sort()).toEqual([["first"], ["second"]]);
  });

  test("a reply that comes before the leg is open is not lost", async () => {
    await using relay = await startRelayProcess();
    await using proxy = await startCuttingProxy(relay.port);
    const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
    await using surface = await openSurface(relay.baseUrl, ({ id, params }) => {
      void surface.send({ jsonrpc: "2.0", id, result: { ...params } }).then(() => answered());
      return undefined;
    });
    proxy.holdLegs(isAnswered);
    await using transport = openTransport({ order: "send-first" });
    const { result } = await transport.exchange(linkTo(proxy.port, "agent"), request(7), LONG);
    expect(result).toEqual({ n: 7, from: "" });
  });

  test("a relay that stops in mid-call leaves the outcome unknown, and serves again once it is back", async () => {
    await using first = await startRelayProcess();
    const { promise: hasArrived, resolve: arrived } = Promise.withResolvers<void>();
    let isStubborn = true;
    await using _surface = await openSurface(first.baseUrl, ({ params }) => {
      if (!isStubborn) return { ...params };
      arrived();
      return undefined;
    });
    await using transport = openTransport();
    const link = linkTo(first.port, "agent");
    const failure = transport.exchange(link, request(1), { timeoutMs: 1_500 }).catch((error) => error);
    await hasArrived;
    await first.kill();
    expect(await failure).toMatchObject({ name: "HumanPlusError", outcome: "unknown", retryable: false });

    await expect(transport.exchange(link, request(2), LONG)).rejects.toMatchObject({
      code: "relay_unreachable",
      outcome: "not_applied",
      retryable: true,
    });

    isStubborn = false;
    await using _second = await startRelayProcess(["--port", String(first.port)]);
    const answer = await callUntilThere(transport, link);
    expect(answer.result).toEqual({ n: 3, from: "" });
  });
});

/** Calls again for as long as a call was not applied and may be made again; a surface needs a moment to come back. */
async function callUntilThere(transport: RelayTransport, link: ReturnType<typeof linkTo>) {
  for (;;) {
    try {
      return await transport.exchange(link, request(3), LONG);
    } catch (error) {
      const { outcome, code } = error as { outcome: string; code: string };
      expect(outcome).toBe("not_applied");
      expect(["surface_absent", "surface_unavailable", "relay_unreachable"]).toContain(code);
      await upTo(50);
    }
  }
}
