// For authors of parts: transports, relays, surfaces, adapters. Web standards only.
// gen/index.ts names each export, as the contract has them.
// biome-ignore lint/performance/noReExportAll: a new definition in spec/ must need no edit here
export * from "./gen/index.ts";
export { HumanPlusError, type HumanPlusErrorOptions } from "./error.ts";
export type { Issue, Parsed } from "./parse/issue.ts";
export { parseJsonText, utf8Length } from "./parse/json.ts";
export { safeParseFrameText } from "./frame-text.ts";
export { type RelayRefusal, readRelayRefusal } from "./relay-refusal.ts";
export { matchRoute, type RouteMatch } from "./route.ts";
