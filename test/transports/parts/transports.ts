import type { RelayTransport } from "@human-plus/core";
import type { Fallback } from "@human-plus/core/protocol";
import { createAutoTransport, createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseReceiver, createSseTransport } from "@human-plus/transport-sse";

export interface OpenTransportOptions {
  order?: "leg-first" | "send-first";
  idleLegMs?: number;
  pollWaitMs?: number;
  detach?: "unregister" | "leave";
  silentMs?: number;
  onFallback?: (fallback: Fallback) => void;
}

/** A transport that is closed with its test. */
export type TestTransport = RelayTransport & AsyncDisposable;
export type OpenTransport = (options?: OpenTransportOptions) => TestTransport;

const egress = { unverified: true } as const;

function disposable(transport: RelayTransport): TestTransport {
  return { ...transport, [Symbol.asyncDispose]: () => transport.close() };
}

function longPoll(dialect: "outbox" | "poll" | "auto"): OpenTransport {
  return ({ silentMs: _, onFallback: __, ...options } = {}) =>
    disposable(createLongPollTransport({ egress, dialect, ...options }));
}

/** Every transport, by name; the same tests run over each. */
export const transports: Readonly<Record<string, OpenTransport>> = {
  "event stream": ({ silentMs: _, onFallback: __, pollWaitMs: ___, ...options } = {}) =>
    disposable(createSseTransport({ egress, ...options })),
  'long poll, dialect "outbox"': longPoll("outbox"),
  'long poll, dialect "poll"': longPoll("poll"),
  "long poll, dialect by itself": longPoll("auto"),
  "by itself": ({ pollWaitMs, ...options } = {}) =>
    disposable(createAutoTransport({ egress, sse: createSseReceiver, longPoll: { pollWaitMs }, ...options })),
};
