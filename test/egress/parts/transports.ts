import type { RelayTransport } from "@human-plus/core";
import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { createAutoTransport, createLongPollTransport } from "@human-plus/transport-longpoll";
import { createSseReceiver, createSseTransport } from "@human-plus/transport-sse";

/** Every transport, by name: each has to keep to the same policy. */
export const transports: Readonly<Record<string, (options: RelayEndpointOptions) => RelayTransport>> = {
  "event stream": createSseTransport,
  'long poll, dialect "outbox"': (options) => createLongPollTransport({ ...options, dialect: "outbox" }),
  'long poll, dialect "poll"': (options) => createLongPollTransport({ ...options, dialect: "poll" }),
  "long poll, dialect by itself": createLongPollTransport,
  "by itself": (options) => createAutoTransport({ ...options, sse: createSseReceiver }),
};
