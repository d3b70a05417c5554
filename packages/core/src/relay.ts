// For transports that run on Node: the one place that opens connections to relays.
export type { PollAnswer } from "./relay/answer.ts";
export type { Lookup } from "./relay/checked-lookup.ts";
export type { TcpConnect } from "./relay/connector.ts";
export type { Egress } from "./relay/egress.ts";
export {
  createRelayEndpoint,
  type PollOptions,
  type RelayEndpoint,
  type RelayEndpointOptions,
} from "./relay/relay-endpoint.ts";
export type { ByteStream } from "./relay/stream.ts";
