// What happens on a surface, in a session or in a store, as AG-UI events. Web standards only, and no AG-UI package.
export {
  type AgUiContentPart,
  type AgUiContext,
  type AgUiEvent,
  type AgUiEventBase,
  type AgUiEventFields,
  type AgUiEventOf,
  type AgUiEventType,
  type AgUiInterrupt,
  type AgUiJson,
  type AgUiMessage,
  type AgUiPatchOperation,
  type AgUiResumeEntry,
  type AgUiRunInput,
  type AgUiRunOutcome,
  type AgUiTool,
  type AgUiToolCall,
  agUiNames,
} from "./events.ts";
export { type ObservedSession, observeSession } from "./feed/observe-session.ts";
export { type OwnedSurface, observeSurface } from "./feed/observe-surface.ts";
export type {
  ProposalStanding,
  SurfaceCall,
  SurfaceFeed,
  SurfaceHand,
  SurfaceOccurrence,
  SurfaceOccurrenceType,
  SurfaceParticipant,
} from "./feed/occurrence.ts";
export type { Awaitable, ProjectedActivity, Projection, ProjectionLeg, ProjectionRun } from "./projection.ts";
export {
  type ActivityFromToolProgressOptions,
  createActivityFromToolProgressProjection,
} from "./projections/activity-from-tool-progress.ts";
export { composeProjections } from "./projections/compose-projections.ts";
export {
  createMessagesFromSessionProjection,
  type MessagesFromSessionOptions,
} from "./projections/messages-from-session.ts";
export { createStateFromStoreProjection, type StateFromStoreOptions } from "./projections/state-from-store.ts";
export type { ContextDetail } from "./projector/context-entry.ts";
export type { HandCounts, SurfaceEntry } from "./projector/entry.ts";
export type { Projected, SurfaceProjection } from "./projector/projection.ts";
export type { SurfaceActivity } from "./projector/surface-log.ts";
export {
  createSurfaceProjector,
  type OpenStreamOptions,
  type SurfaceProjector,
  type SurfaceProjectorOptions,
} from "./projector/surface-projector.ts";
export type { SurfaceStream } from "./projector/surface-stream.ts";
