export { createSseReceiver } from "./sse-receiver.ts";
export { createSseTransport, type SseTransportOptions } from "./sse-transport.ts";
