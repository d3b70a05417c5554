import type { JsonObject } from "@human-plus/core";
import { requireMatch } from "../argument.ts";
import { toJson } from "../bounded-json.ts";
import { toIdentifier } from "../identifier.ts";
import type { ProjectedActivity, Projection } from "../projection.ts";

export interface ActivityFromToolProgressOptions {
  /** @default "humanplus.tool-progress" */
  activityType?: string | undefined;
  /**
   * What is shown of the progress and the metadata that a tool reports.
   *
   * @default both, as they are
   */
  project?: ((step: { readonly progress?: unknown; readonly metadata?: unknown }) => unknown) | undefined;
}

const MAX_BYTES = 16_384;
const bounds = { maxJsonDepth: 12, maxJsonProperties: 128, maxJsonArrayItems: 512 };

/**
 * Shows how far tools are: one activity for each call, always whole, so that one that was left out does no harm. A report that is
 * no plain JSON, or over 16 KiB, is not shown.
 *
 * @throws HumanPlusError `invalid_argument` that names the option
 */
export function createActivityFromToolProgressProjection({
  activityType = "humanplus.tool-progress",
  project = ({ progress, metadata }) => ({ progress, metadata }),
}: ActivityFromToolProgressOptions = {}): Pick<Projection, "activity"> {
  requireMatch("activityType", activityType, /^[A-Za-z0-9_.:-]{1,128}$/);
  return {
    activity(event): ProjectedActivity | undefined {
      if (event.type !== "tool_execution_progress") return undefined;
      const { toolCallId, name, progress, metadata } = event;
      if (progress === undefined && metadata === undefined) return undefined;
      const shown = toJson(project({ progress, metadata }), MAX_BYTES, bounds);
      if (shown === undefined || shown === null) return undefined;
      const content = {
        toolCallId,
        name,
        ...(typeof shown === "object" ? (shown as JsonObject) : { progress: shown }),
      };
      const messageId = `tool-progress-${toIdentifier(toolCallId).slice(0, 114)}`;
      return { type: "snapshot", messageId, activityType, content: content as JsonObject, replace: true };
    },
  };
}
