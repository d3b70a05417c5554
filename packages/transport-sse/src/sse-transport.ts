import type { RelayTransport } from "@human-plus/core";
import { createExchangeEngine, type ExchangeEngineOptions } from "@human-plus/core/protocol";
import { createRelayEndpoint, type RelayEndpointOptions } from "@human-plus/core/relay";
import { createSseReceiver } from "./sse-receiver.ts";

export interface SseTransportOptions extends RelayEndpointOptions, Pick<ExchangeEngineOptions, "order" | "idleLegMs"> {}

/**
 * A transport that receives over server-sent events: one open stream for each attachment in use, and the shortest way
 * back for a reply.
 *
 * @throws HumanPlusError `invalid_argument`
 */
export function createSseTransport({ order, idleLegMs, ...options }: SseTransportOptions): RelayTransport {
  const endpoint = createRelayEndpoint(options);
  return createExchangeEngine({ sender: endpoint, receiver: createSseReceiver(endpoint), order, idleLegMs });
}
