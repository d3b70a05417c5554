// For authors of parts: transports, relays, surfaces, adapters. Web standards only.
// gen/index.ts names each export, as the contract has them.

export type { AttachmentRow } from "./attachment.ts";
export type { AttachmentStore, LockOptions } from "./attachment-store.ts";
export { HumanPlusError, type HumanPlusErrorOptions } from "./error.ts";
export { createExchangeEngine, type ExchangeEngineOptions } from "./exchange/exchange-engine.ts";
export { createFallbackReceiver, type Fallback, type FallbackReceiverOptions } from "./exchange/fallback-receiver.ts";
export { type FrameDeliveryOptions, frameDelivery, malformedDelivery } from "./exchange/frame-delivery.ts";
export { safeParseFrameText } from "./frame-text.ts";
export * from "./gen/index.ts";
export type { Issue, Parsed } from "./parse/issue.ts";
export { parseJsonText, utf8Length } from "./parse/json.ts";
export { type RelayRefusal, readRelayRefusal } from "./relay-refusal.ts";
export { matchRoute, type RouteMatch } from "./route.ts";
export type {
  Delivery,
  Demand,
  EndListener,
  ExchangeOptions,
  GapListener,
  NotificationListener,
  OpenOptions,
  Receiver,
  RelayLink,
  RelayTransport,
  Sender,
  SendOptions,
  SendResult,
  Subscription,
} from "./transport.ts";
