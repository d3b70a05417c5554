// For those who give an agent a surface. Web standards only.
export type { AnnounceOptions } from "./announcement.ts";
export type {
  AttachmentRow,
  AttachmentState,
  ChangeFeedState,
  ConflictDetectionEvidence,
  ConflictDetectionState,
  Discovery,
  Observation,
  ObservedRevision,
} from "./attachment.ts";
export {
  type AttachmentStore,
  type LockOptions,
  MemoryAttachmentStore,
  type MemoryAttachmentStoreOptions,
} from "./attachment-store.ts";
export type { CallResult, MediaPart } from "./call-result.ts";
export type { ChangeFeedReport, ChangeReport } from "./change-feed.ts";
export type { ConflictDetectionReport } from "./conflict-detection.ts";
export { HumanPlusError, type HumanPlusErrorOptions, type SurfaceError } from "./error.ts";
export type { ChangeRow, ContentPart, ErrorCode, JsonObject, Outcome, Priority } from "./gen/types.ts";
export {
  type AttachmentStatus,
  type AttachOptions,
  type CallOptions,
  type CallProgress,
  type ChangesSinceOptions,
  createHumanPlus,
  type HumanPlus,
  type HumanPlusOptions,
  type ListToolsOptions,
  type OperationOptions,
} from "./human-plus.ts";
export { Invitation, type InvitationFields, type ShareLinkOptions } from "./invitation.ts";
export type { Issue } from "./parse/issue.ts";
export { createParticipant, type Participant, type ParticipantOptions } from "./participant.ts";
export type { Reading } from "./reading.ts";
export { createResultGuard, type ResultGuard, type ResultGuardOptions, type TextSource } from "./result-guard.ts";
export type { SurfaceEventListener, SurfaceEventName, SurfaceEvents } from "./surface-events.ts";
export type { SurfaceSession } from "./surface-session.ts";
export { digestOf, type ToolDefinition } from "./tool-definition.ts";
export type { RelayTransport } from "./transport.ts";
export { type ToolPins, type TrustOptions, TrustPolicy } from "./trust-policy.ts";
export type { HandlesOf, Turn, TurnOptions } from "./turn.ts";
