// An agent behind HTTP for AG-UI clients of every version. Web standards only, and no AG-UI package at run time.

export type { AgentCapabilities } from "./handler/capabilities.ts";
export { type AgUiHandler, createAgUiHandler } from "./handler/create-ag-ui-handler.ts";
export type { EncoderModule } from "./handler/frame-codec.ts";
export { fromPrism } from "./handler/from-prism.ts";
export type {
  AgUiHandlerOptions,
  AgUiInputOptions,
  AgUiProblem,
  AgUiRunContext,
  AuthorizeContext,
  InputContext,
} from "./handler/handler-options.ts";
export type { LimitName } from "./handler/limits.ts";
export { type NodeListenerOptions, nodeListener } from "./handler/node-listener.ts";
export type {
  PrismContent,
  PrismError,
  PrismEvent,
  PrismEventOf,
  PrismEventType,
  PrismInterruption,
  PrismMessage,
  PrismPendingDecision,
  PrismToolCall,
  PrismToolResult,
} from "./handler/prism-events.ts";
export { AgUiRefusal, type AgUiRefusalOptions } from "./handler/refusal.ts";
export type { AgentEventItem, AgentEventRequest, AgentEventSource, ReplayOptions } from "./handler/replay.ts";
export type { ParsedRunInput } from "./handler/run-input.ts";
export type {
  InterruptOptions,
  LifecycleOptions,
  Ownership,
  ResolvedRun,
  ResumePolicyContext,
  RunDecision,
  RunLifecycle,
  RunRef,
  RunResume,
  RunVerdict,
  SuspendedContext,
} from "./handler/run-lifecycle.ts";
export type { Awaitable, ProjectedActivity, Projection, ProjectionLeg, ProjectionRun } from "./projection.ts";
