import type { AnnounceOptions } from "./announcement.ts";
import type { CallResult } from "./call-result.ts";
import type { ChangeFeedReport, ChangeReport } from "./change-feed.ts";
import type { ConflictDetectionReport } from "./conflict-detection.ts";
import type { JsonObject } from "./gen/types.ts";
import type {
  AttachmentStatus,
  CallOptions,
  ChangesSinceOptions,
  HumanPlus,
  ListToolsOptions,
  OperationOptions,
} from "./human-plus.ts";
import type { Reading } from "./reading.ts";
import type { SurfaceEventListener, SurfaceEventName } from "./surface-events.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import type { Turn, TurnOptions } from "./turn.ts";

/** One attachment with its owner already presented. Every member does what the one of the same name in `HumanPlus` does. */
export interface SurfaceSession {
  /** The attachment's id: keep it with the owner to find the attachment again. */
  readonly id: string;
  tools(options?: ListToolsOptions): Promise<readonly ToolDefinition[]>;
  call(tool: string, args?: JsonObject, options?: CallOptions): Promise<CallResult>;
  changesSince(options?: ChangesSinceOptions): Promise<ChangeReport>;
  announce(activity: AnnounceOptions): Promise<void>;
  turn(options?: TurnOptions): Promise<Turn>;
  reading(): Promise<Reading>;
  conflictDetection(): Promise<ConflictDetectionReport>;
  changeFeed(): Promise<ChangeFeedReport>;
  status(): Promise<AttachmentStatus>;
  detach(options?: OperationOptions): Promise<void>;
  markUnavailable(): Promise<void>;
  markUnauthorized(): Promise<void>;
  watch(): Promise<() => void>;
  /** Events of this attachment only. */
  on<E extends SurfaceEventName>(name: E, listener: SurfaceEventListener<E>): () => void;
}

export function createSurfaceSession(humanPlus: HumanPlus, owner: string, id: string): SurfaceSession {
  return {
    id,
    tools: (options) => humanPlus.tools(owner, id, options),
    call: (tool, args, options) => humanPlus.call(owner, id, tool, args, options),
    changesSince: (options) => humanPlus.changesSince(owner, id, options),
    announce: (activity) => humanPlus.announce(owner, id, activity),
    turn: (options) => humanPlus.turn(owner, id, options),
    reading: () => humanPlus.reading(owner, id),
    conflictDetection: () => humanPlus.conflictDetection(owner, id),
    changeFeed: () => humanPlus.changeFeed(owner, id),
    status: () => humanPlus.status(owner, id),
    detach: (options) => humanPlus.detach(owner, id, options),
    markUnavailable: () => humanPlus.markUnavailable(owner, id),
    markUnauthorized: () => humanPlus.markUnauthorized(owner, id),
    watch: () => humanPlus.watch(owner, id),
    on: (name, listener) =>
      humanPlus.on(name, (event) => {
        if (event.attachmentId === id) listener(event);
      }),
  };
}
