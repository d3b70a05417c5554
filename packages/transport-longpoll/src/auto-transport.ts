import type { RelayTransport } from "@human-plus/core";
import {
  createExchangeEngine,
  createFallbackReceiver,
  type ExchangeEngineOptions,
  type FallbackReceiverOptions,
  type Receiver,
} from "@human-plus/core/protocol";
import { createRelayEndpoint, type RelayEndpoint, type RelayEndpointOptions } from "@human-plus/core/relay";
import { createLongPollReceiver, type LongPollOptions } from "./long-poll-receiver.ts";

export interface AutoTransportOptions
  extends RelayEndpointOptions,
    Pick<ExchangeEngineOptions, "order" | "idleLegMs">,
    Pick<FallbackReceiverOptions, "silentMs" | "cutMs" | "onFallback"> {
  /** What is tried first: `createSseReceiver` of `@human-plus/transport-sse`. */
  sse: (endpoint: RelayEndpoint) => Receiver;
  /** How to poll where that does not get through. @default {} */
  longPoll?: LongPollOptions | undefined;
}

/**
 * A transport that chooses by itself: event streams, and long polling for relays whose streams are refused, stay silent
 * or are cut. It changes over within an exchange: the request is posted once, and its reply arrives the other way.
 *
 * @throws HumanPlusError `invalid_argument`
 */
export function createAutoTransport({
  sse,
  longPoll = {},
  silentMs,
  cutMs,
  onFallback,
  order,
  idleLegMs,
  ...options
}: AutoTransportOptions): RelayTransport {
  const endpoint = createRelayEndpoint(options);
  const receiver = createFallbackReceiver({
    first: sse(endpoint),
    second: createLongPollReceiver(endpoint, longPoll),
    silentMs,
    cutMs,
    onFallback,
  });
  return createExchangeEngine({ sender: endpoint, receiver, order, idleLegMs });
}
