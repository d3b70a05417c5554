import { Invitation, type RelayTransport } from "@human-plus/core";
import { createAutoTransport, createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseReceiver } from "@human-plus/transport-sse";
import { Agent } from "undici";
import { startRelayProcess } from "../../test/parts/relay-process.ts";
import { openBarePoller } from "./bare-poller.ts";
import { startChild } from "./child-process.ts";
import { type Call, type Load, median, runLoad } from "./load.ts";

export type PollWay = "bare" | "outbox" | "poll" | "auto";

export interface PollFigures {
  readonly ways: Readonly<Record<PollWay, Load>>;
  /** The median of the ratios within each round, to the bare POST and poll. */
  throughputRatio(way: PollWay): number;
}

const ROUNDS = 5;
const token = "bench-token-0123456789";
const egress = { unverified: true } as const;

/** Exchanges over long polls, and over what chooses by itself, beside undici's POST and poll over the same relay. */
export async function comparePolls(attachments: number, callsEach: number): Promise<PollFigures> {
  const sessions = Array.from({ length: attachments }, (_, index) => `polls-${index}`);
  await using relay = await startRelayProcess();
  await using _surfaces = await startChild("surface-process.ts", relay.baseUrl, token, ...sessions);
  const { baseUrl } = relay;
  const agent = new Agent();
  const transports: Record<Exclude<PollWay, "bare">, RelayTransport> = {
    outbox: createLongPollTransport({ egress, dialect: "outbox" }),
    poll: createLongPollTransport({ egress, dialect: "poll" }),
    auto: createAutoTransport({ egress, sse: createSseReceiver }),
  };
  const ways: Record<PollWay, Call[]> = { bare: [], outbox: [], poll: [], auto: [] };
  for (const session of sessions) {
    const client = openBarePoller({ baseUrl, session, token, client: "bare", agent });
    ways.bare.push(() => client.call("x"));
    const fields = { relayBaseUrl: baseUrl, sessionId: session, token, surfaceId: "canvas", application: "bench" };
    for (const way of ["outbox", "poll", "auto"] as const) {
      const link = { id: session, client: way, invitation: new Invitation(fields) };
      const params = { name: "echo", arguments: { argument: "x" } };
      ways[way].push(() =>
        transports[way].exchange(
          link,
          { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params },
          { timeoutMs: 30_000 },
        ),
      );
    }
  }
  const rounds: Record<PollWay, Load>[] = [];
  for (const calls of Object.values(ways)) await runLoad(calls, Math.min(callsEach, 100));
  for (let round = 0; round < ROUNDS; round++) {
    const loads = {} as Record<PollWay, Load>;
    const order = Object.keys(ways) as PollWay[];
    for (const way of round % 2 === 0 ? order : order.reverse()) loads[way] = await runLoad(ways[way], callsEach);
    rounds.push(loads);
  }
  await Promise.all([...Object.values(transports).map((transport) => transport.close()), agent.destroy()]);
  const middle = (pick: (loads: Record<PollWay, Load>) => number) => median(rounds.map(pick));
  const load = (way: PollWay): Load => ({
    throughput: middle((loads) => loads[way].throughput),
    p50: middle((loads) => loads[way].p50),
  });
  return {
    ways: { bare: load("bare"), outbox: load("outbox"), poll: load("poll"), auto: load("auto") },
    throughputRatio: (way) => middle((loads) => loads[way].throughput / loads.bare.throughput),
  };
}
