export type { Change, Hand } from "./change.ts";
export { type ConnectionState, type ConnectOptions, connectSurface, type SurfaceConnection } from "./connect.ts";
export { createInvitation, type InvitationOptions, toShareLink } from "./invitation.ts";
export type { Observable } from "./observable.ts";
export type { Participant } from "./presence.ts";
export type { PendingProposal, Proposal } from "./proposals.ts";
export type { SurfaceChannel } from "./server.ts";
export {
  type ByOptions,
  createSurface,
  type HistoryEntry,
  type Surface,
  type SurfaceOptions,
  type SurfaceSnapshot,
} from "./surface.ts";
export type {
  Call,
  CommitOptions,
  ProposeOptions,
  StagedCall,
  StagedTool,
  ToolOptions,
  ToolOutput,
  WritingTool,
} from "./tool.ts";
export { StalePinError, ToolError } from "./tool-error.ts";
export type { Touch, Touches } from "./touch.ts";
export type { UndoOutcome } from "./undo.ts";
