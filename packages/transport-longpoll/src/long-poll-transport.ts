import type { RelayTransport } from "@human-plus/core";
import { createExchangeEngine, type ExchangeEngineOptions } from "@human-plus/core/protocol";
import { createRelayEndpoint, type RelayEndpointOptions } from "@human-plus/core/relay";
import { createLongPollReceiver, type LongPollOptions } from "./long-poll-receiver.ts";

export interface LongPollTransportOptions
  extends RelayEndpointOptions,
    LongPollOptions,
    Pick<ExchangeEngineOptions, "order" | "idleLegMs"> {}

/**
 * A transport that receives by long polling: plain short requests, one at a time for each attachment in use, which get
 * through where nothing else does.
 *
 * @throws HumanPlusError `invalid_argument`
 */
export function createLongPollTransport({
  dialect,
  pollPath,
  pollWaitMs,
  order,
  idleLegMs,
  ...options
}: LongPollTransportOptions): RelayTransport {
  const endpoint = createRelayEndpoint(options);
  const receiver = createLongPollReceiver(endpoint, { dialect, pollPath, pollWaitMs });
  return createExchangeEngine({ sender: endpoint, receiver, order, idleLegMs });
}
