import { createHumanPlus, Invitation, TrustPolicy } from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";
import { Agent } from "undici";
import { startRelayProcess } from "../../test/parts/relay-process.ts";
import { openBareClient } from "./bare-client.ts";
import { startChild } from "./child-process.ts";
import { type Call, type Load, median, runLoad } from "./load.ts";

export type Way = "bare" | "exchange" | "call";

export interface CallFigures {
  readonly ways: Readonly<Record<Way, Load>>;
  /** The median of the ratios within each round. */
  throughputRatio(way: Way): number;
  latencyRatio(way: Way): number;
}

const ROUNDS = 7;
const token = "bench-token-0123456789";

/** Relay and surfaces in processes of their own; all ways take turns over the same ones. */
export async function compareCalls(attachments: number, callsEach: number): Promise<CallFigures> {
  const sessions = Array.from({ length: attachments }, (_, index) => `bench-${index}`);
  await using relay = await startRelayProcess();
  await using _surfaces = await startChild("surface-process.ts", relay.baseUrl, token, ...sessions);
  const { baseUrl } = relay;
  const agent = new Agent();
  const transport = createSseTransport({ egress: { unverified: true } });
  const humanPlus = createHumanPlus({ transport: createSseTransport({ egress: { unverified: true } }) });

  const ways: Record<Way, Call[]> = { bare: [], exchange: [], call: [] };
  for (const session of sessions) {
    const client = await openBareClient({ baseUrl, session, token, client: "bare", agent });
    ways.bare.push(() => client.call("x"));
    const fields = { relayBaseUrl: baseUrl, sessionId: session, token, surfaceId: "canvas", application: "bench" };
    const link = { id: session, client: "engine", invitation: new Invitation(fields) };
    const params = { name: "echo", arguments: { argument: "x" } };
    ways.exchange.push(() =>
      transport.exchange(
        link,
        { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params },
        { timeoutMs: 30_000 },
      ),
    );
    const { id } = await humanPlus.attach({
      owner: "bench",
      invitation: fields,
      participant: { id: "bench", name: "Bench" },
      trust: TrustPolicy.allowing(["echo"]),
    });
    ways.call.push(() => humanPlus.call("bench", id, "echo", { argument: "x" }));
  }

  const rounds: Record<Way, Load>[] = [];
  for (const calls of Object.values(ways)) await runLoad(calls, Math.min(callsEach, 400));
  for (let round = 0; round < ROUNDS; round++) {
    const loads = {} as Record<Way, Load>;
    const order = Object.keys(ways) as Way[];
    for (const way of round % 2 === 0 ? order : order.reverse()) loads[way] = await runLoad(ways[way], callsEach);
    rounds.push(loads);
  }
  await Promise.all([humanPlus.close(), transport.close(), agent.destroy()]);

  const middle = (pick: (loads: Record<Way, Load>) => number) => median(rounds.map(pick));
  const load = (way: Way): Load => ({
    throughput: middle((loads) => loads[way].throughput),
    p50: middle((loads) => loads[way].p50),
  });
  return {
    ways: { bare: load("bare"), exchange: load("exchange"), call: load("call") },
    throughputRatio: (way) => middle((loads) => loads[way].throughput / loads.bare.throughput),
    latencyRatio: (way) => middle((loads) => loads[way].p50 / loads.bare.p50),
  };
}
