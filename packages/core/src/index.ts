// For those who give an agent a surface. Web standards only.
export { HumanPlusError, type HumanPlusErrorOptions } from "./error.ts";
export type { ErrorCode, Outcome } from "./gen/types.ts";
export { Invitation, type InvitationFields, type ShareLinkOptions } from "./invitation.ts";
export type { Issue } from "./parse/issue.ts";
export type { RelayTransport } from "./transport.ts";
