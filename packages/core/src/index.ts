// For those who give an agent a surface. Web standards only.
export { HumanPlusError, type HumanPlusErrorOptions } from "./error.ts";
export type { ErrorCode, Outcome } from "./gen/types.ts";
export type { Issue } from "./parse/issue.ts";
