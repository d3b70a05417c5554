import type { PendingDecision, RunDecision, StickyDecision } from "./decisions.ts";
import { HostError } from "./errors.ts";
import type { Message, Registry, ToolCall } from "./shapes.ts";

/** A run as it is kept while it is suspended: JSON, and nothing of the process. */
export interface AgentRunState {
  readonly status: "suspended" | "running" | "denied";
  readonly agentId: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly fingerprint: string;
  readonly turn: number;
  /** What the model had been shown. */
  readonly messages: Message[];
  /** Calls of the round that wait. */
  readonly gated: ToolCall[];
  readonly pending: PendingDecision[];
  readonly decided: RunDecision[];
  readonly stickies: StickyDecision[];
}

export interface CheckpointStore {
  get(runId: string): { state: AgentRunState; version: number } | undefined;
  /** @throws `ERR_PRISM_CHECKPOINT_CONFLICT` */
  put(state: AgentRunState, expectedVersion: number): number;
}

const MAX_STATE_BYTES = 256 * 1024;

export function createMemoryCheckpointStore(): CheckpointStore {
  const kept = new Map<string, { text: string; version: number }>();
  return {
    get(runId) {
      const found = kept.get(runId);
      return found && { state: JSON.parse(found.text) as AgentRunState, version: found.version };
    },
    put(state, expectedVersion) {
      const version = kept.get(state.runId)?.version ?? 0;
      if (version !== expectedVersion)
        throw new HostError(
          "CheckpointConflictError",
          "the run was changed meanwhile",
          "ERR_PRISM_CHECKPOINT_CONFLICT",
        );
      const text = JSON.stringify(state);
      if (Buffer.byteLength(text) > MAX_STATE_BYTES)
        throw new HostError("AgentRunStateError", "the state is too large");
      kept.set(state.runId, { text, version: version + 1 });
      return version + 1;
    },
  };
}

/** What a resumed run has to be the same in, as plain JSON: another order of keys in a schema is another run. */
export function fingerprintOf(agent: {
  id: string;
  instructions?: string | undefined;
  definitionRevision: string;
  tools: Registry;
}): string {
  const { id, instructions, definitionRevision } = agent;
  const tools = agent.tools.list().map(({ name, parameters, exclusive, effect }) => ({
    name,
    parameters,
    exclusive,
    effect: typeof effect === "function" ? "classifier" : effect,
  }));
  return JSON.stringify({ id, instructions, definitionRevision, tools });
}
