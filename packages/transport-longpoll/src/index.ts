export { type AutoTransportOptions, createAutoTransport } from "./auto-transport.ts";
export { createLongPollReceiver, type LongPollOptions } from "./long-poll-receiver.ts";
export { createLongPollTransport, type LongPollTransportOptions } from "./long-poll-transport.ts";
