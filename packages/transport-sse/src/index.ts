export { createSseTransport, type SseTransportOptions } from "./sse-transport.ts";
