import type { RelayTransport } from "@human-plus/core";
import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { createAutoTransport, createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseReceiver, createSseTransport } from "@human-plus/transport-sse";

/** Where a transport of the checks may go. */
export interface TransportTarget {
  relayBaseUrl: string;
  /** The relay is on this machine or in a private network. */
  local: boolean;
}

/** Names a way in which frames can come. */
export type TransportName = "sse" | "longpoll-outbox" | "longpoll-poll" | "longpoll" | "auto";

/** Ways in which frames can come, by name. */
export const transports: Readonly<Record<TransportName, (target: TransportTarget) => RelayTransport>> = {
  sse: (target) => createSseTransport(toOptions(target)),
  "longpoll-outbox": (target) => createLongPollTransport({ ...toOptions(target), dialect: "outbox" }),
  "longpoll-poll": (target) => createLongPollTransport({ ...toOptions(target), dialect: "poll" }),
  longpoll: (target) => createLongPollTransport(toOptions(target)),
  auto: (target) => createAutoTransport({ ...toOptions(target), sse: createSseReceiver }),
};

export const transportNames: readonly TransportName[] = Object.keys(transports) as TransportName[];

function toOptions({ relayBaseUrl, local }: TransportTarget): RelayEndpointOptions {
  const { hostname, port } = new URL(relayBaseUrl);
  return {
    egress: local ? { unverified: true } : { direct: "pinned" },
    allowedRelayHosts: [hostname],
    allowedRelayPorts: local ? undefined : [port === "" ? 443 : Number(port)],
    // Some relays end a session for everybody when one agent unregisters: the checks leave without a word.
    detach: "leave",
  };
}
