// The broker and the fetch binding alone: Web standards only, for runtimes without Node modules.
export { type Broker, type Caller, createBroker, type PollRequest, type ReadRequest } from "./broker/broker.ts";
export { type Clock, createSystemClock } from "./broker/clock.ts";
export type { BrokerEvent, BrokerOptions, BrokerSettings } from "./broker/options.ts";
export type { PollBatch, PollSink, StreamSink } from "./broker/sinks.ts";
export type { BrokerCounters, BrokerStats } from "./broker/stats.ts";
export { createFetchHandler, type FetchHandler } from "./fetch-handler.ts";
export type { Answered, BindingOptions, MetricsText } from "./http/binding-options.ts";
export type { CorsOrigins } from "./http/cors.ts";
