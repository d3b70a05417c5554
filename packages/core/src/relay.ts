// For transports that run on Node: the one place that opens connections to relays.
export type { Egress } from "./relay/egress.ts";
export { createRelayEndpoint, type RelayEndpoint, type RelayEndpointOptions } from "./relay/relay-endpoint.ts";
export type { ByteStream } from "./relay/stream.ts";
