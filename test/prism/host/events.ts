import type { ErrorInfo, Message, ToolCall, ToolResult } from "./shapes.ts";

interface Interruption {
  readonly kind: "tool_approval" | "elicitation";
  readonly reason: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly pendingDecisions: readonly unknown[];
}

type Fields =
  | { type: "agent_started" }
  | { type: "agent_finished"; finishReason?: "turn_limit" }
  | { type: "agent_suspended"; interruption: Interruption; version: number }
  | { type: "agent_resumed"; version: number }
  | { type: "turn_started" | "turn_finished"; turn: number }
  | { type: "provider_turn_started"; turn: number }
  | { type: "provider_turn_finished"; turn: number; error?: ErrorInfo }
  | { type: "message_started" | "message_finished"; message: Message }
  | { type: "message_delta"; content: Message["content"][number] }
  | { type: "tool_execution_started"; call: ToolCall }
  | {
      type: "tool_execution_progress";
      toolCallId: string;
      name: string;
      progress?: unknown;
      metadata?: Record<string, unknown>;
    }
  | { type: "tool_execution_finished"; result: ToolResult }
  | { type: "tool_execution_error"; call: ToolCall; error: ErrorInfo }
  | { type: "tool_execution_blocked"; toolCallId: string; name: string; reason: string; error: ErrorInfo }
  | { type: "run_limit_exceeded"; limit: string }
  | { type: "queue_updated"; size: number }
  | { type: "steer_rejected"; message: Message; reason: string }
  | { type: "event_subscriber_overflow"; droppedEvents: number }
  | { type: "error"; error: ErrorInfo };

/** What happens in a session, in order. Tools run between turns. */
export type AgentEvent = Fields & { readonly sessionId: string; readonly runId: string };
/** An event before the run has put its ids on it. */
export type EventFields = Fields;

export interface SubscribeOptions {
  /** @default 1024 */
  maxQueuedEvents?: number;
  /** `close` replaces the whole queue with one event and ends: the terminal event is lost as well. */
  overflow?: "close" | "drop_oldest" | "drop_newest";
}

export interface EventHub {
  emit(event: AgentEvent): Promise<void>;
  subscribe(options?: SubscribeOptions): AsyncIterableIterator<AgentEvent>;
  /** Subscriptions that are open. */
  readonly subscribers: number;
}

export function createEventHub(): EventHub {
  const queues = new Set<{ push(event: AgentEvent): void }>();
  return {
    async emit(event) {
      for (const queue of [...queues]) queue.push(event);
    },
    subscribe({ maxQueuedEvents = 1024, overflow = "close" } = {}) {
      let waiting: AgentEvent[] = [];
      let wake: (() => void) | undefined;
      let ended = false;
      const queue = {
        push(event: AgentEvent) {
          if (waiting.length < maxQueuedEvents) waiting.push(event);
          else if (overflow === "drop_oldest") waiting = [...waiting.slice(1), event];
          else if (overflow === "close") {
            const { sessionId, runId } = event;
            waiting = [{ type: "event_subscriber_overflow", droppedEvents: waiting.length + 1, sessionId, runId }];
            end();
          }
          wake?.();
        },
      };
      const end = () => {
        ended = true;
        queues.delete(queue);
        wake?.();
      };
      queues.add(queue);
      return {
        [Symbol.asyncIterator]() {
          return this;
        },
        async next() {
          while (waiting.length === 0 && !ended)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          const value = waiting.shift();
          return value === undefined ? { done: true, value: undefined } : { done: false, value };
        },
        async return() {
          waiting = [];
          end();
          return { done: true, value: undefined };
        },
      };
    },
    get subscribers() {
      return queues.size;
    },
  };
}
