export type { ApprovalPolicy, ApprovalQuestion } from "./approval.ts";
export type { EffectPolicy } from "./effect.ts";
export type {
  AgentEvent,
  AgentSession,
  ContentBlock,
  ErrorInfo,
  HostJsonObject,
  HostMessage,
  JsonValue,
  SubscribeOptions,
  TextBlock,
  ToolDefinition,
  ToolEffectContext,
  ToolEffectDeclaration,
  ToolEffectRecord,
  ToolEffectStatus,
  ToolElicitationRequest,
  ToolExecutionContext,
  ToolKind,
  ToolRegistry,
  ToolResult,
} from "./host.ts";
export type { LiveToolset } from "./live-toolset.ts";
export type { Naming } from "./names.ts";
export {
  type ReconcileSurfaceEffectOptions,
  reconcileSurfaceEffect,
  type SurfaceEffectOutcome,
} from "./reconcile.ts";
export type { SurfaceToolsOptions } from "./surface-tools.ts";
export { type SurfaceTurn, type SurfaceTurnOptions, surfaceTurn } from "./surface-turn.ts";
export type { ToolAddress } from "./tool-address.ts";
export { createSurfaceToolset, type SurfaceToolset, type SurfaceToolsetOptions } from "./toolset.ts";
export { type SurfaceWatch, type WatchSurfaceOptions, watchSurface } from "./watch-surface.ts";
