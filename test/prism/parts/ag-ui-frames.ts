import type { AgentEvent } from "../host/events.ts";

type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** The events of one run as the host's own AG-UI side puts them on the wire, under the ids of the request. */
export function toAgUiFrames(
  events: readonly AgentEvent[],
  { threadId = "t", runId = "r" }: { threadId?: string; runId?: string } = {},
): Frame[] {
  const progressed = new Set<string>();
  return events.flatMap((event): Frame[] => {
    switch (event.type) {
      case "agent_started":
        return [{ type: "RUN_STARTED", threadId, runId }];
      case "turn_started":
        return [{ type: "STEP_STARTED", stepName: `turn:${event.turn}` }];
      case "turn_finished":
        return [{ type: "STEP_FINISHED", stepName: `turn:${event.turn}` }];
      case "tool_execution_started": {
        const { id: toolCallId, name: toolCallName, arguments: args } = event.call;
        return [
          { type: "TOOL_CALL_START", toolCallId, toolCallName },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) },
        ];
      }
      case "tool_execution_progress": {
        const { toolCallId, name, progress, metadata } = event;
        const messageId = `tool-progress-${toolCallId}`;
        const content = { toolCallId, name, progress, metadata };
        const isFirst = !progressed.has(toolCallId);
        progressed.add(toolCallId);
        if (isFirst)
          return [{ type: "ACTIVITY_SNAPSHOT", messageId, activityType: "tool-progress", content, replace: true }];
        const patch = [{ op: "replace", path: "/progress", value: progress }];
        return [{ type: "ACTIVITY_DELTA", messageId, activityType: "tool-progress", patch }];
      }
      case "tool_execution_finished":
        return ended(event.result.toolCallId, "completed");
      case "tool_execution_error":
        return ended(event.call.id, "failed");
      case "agent_finished":
        return [{ type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" } }];
      case "error":
        return [{ type: "RUN_ERROR", message: event.error.message, code: String(event.error.code ?? "PRISM_ERROR") }];
      default:
        return [];
    }
  });
}

function ended(toolCallId: string, content: string): Frame[] {
  return [
    { type: "TOOL_CALL_RESULT", messageId: `${toolCallId}:result`, role: "tool", toolCallId, content },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}
