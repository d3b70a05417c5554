import type { AgentConfig } from "./agent.ts";
import { type AgentRunState, type CheckpointStore, fingerprintOf } from "./checkpoints.ts";
import { assertDecisions, type RunDecision, settle, stickyOf } from "./decisions.ts";
import { decisionError, runStateError } from "./errors.ts";
import { toRegistry } from "./registry.ts";
import type { RunResult } from "./run.ts";
import { type AgentSession, createAgentSession } from "./session.ts";
import type { JsonObject, Message } from "./shapes.ts";

export interface AgentRunResume {
  readonly expectedVersion: number;
  readonly decision?: "approve" | "deny";
  readonly decisions?: readonly RunDecision[];
}

export interface AgentRunLifecycle {
  status(runId: string): { state: AgentRunState; version: number } | undefined;
  /** @throws `ERR_PRISM_AGENT_RUN_STATE`, `ERR_PRISM_DECISION_*`, `ERR_PRISM_CHECKPOINT_CONFLICT` */
  resume(runId: string, resume: AgentRunResume): Promise<RunResult>;
}

export interface AgentRunLifecycleOptions {
  checkpoints: CheckpointStore;
  /** The agent as it is now, perhaps in another process than the one that was suspended. */
  resolveAgent(agentId: string): AgentConfig;
  /** The transcript of a session. */
  entriesOf?(sessionId: string): Message[];
  /** Hears of the session in which a run goes on. */
  onSession?(session: AgentSession): void;
}

export function createAgentRunLifecycle({
  checkpoints,
  resolveAgent,
  entriesOf = () => [],
  onSession,
}: AgentRunLifecycleOptions): AgentRunLifecycle {
  return {
    status: (runId) => checkpoints.get(runId),
    async resume(runId, { expectedVersion, decision, decisions }) {
      if ((decision === undefined) === (decisions === undefined))
        throw decisionError("INVALID", "either one decision or a list of them");
      const found = checkpoints.get(runId);
      if (found === undefined || found.state.status !== "suspended") throw runStateError("the run is not suspended");
      if (found.version !== expectedVersion) throw runStateError("the run is at another version");
      const { state } = found;
      const config = resolveAgent(state.agentId);
      assertSameAgent(state, config);
      if (decision === "deny") return deny(state, expectedVersion);
      const made =
        decisions ?? state.pending.map(({ approvalId }): RunDecision => ({ approvalId, outcome: "allow_once" }));
      const open = state.pending.filter(({ approvalId }) => !isDecided(state.decided, approvalId));
      assertDecisions(made, open, (one, { toolCallId }) => validateElicitation(one, toolCallId, state, config));
      const decided = [...state.decided, ...made];
      const left = open.filter(({ approvalId }) => !isDecided(decided, approvalId));
      if (left.length > 0) {
        const version = checkpoints.put({ ...state, decided }, expectedVersion);
        return { status: "suspended", runId, pendingDecisions: left, version };
      }
      const version = checkpoints.put({ ...state, status: "running", decided }, expectedVersion);
      const session = createAgentSession(config, { id: state.sessionId, entries: entriesOf(state.sessionId) });
      onSession?.(session);
      return await session.resume({
        runId,
        version,
        turn: state.turn,
        messages: state.messages,
        settled: state.pending.map((asked) => {
          const call = state.gated.find(({ id }) => id === asked.toolCallId);
          const answer = decided.find(({ approvalId }) => approvalId === asked.approvalId);
          if (call === undefined || answer === undefined) throw runStateError("the state of the run is incomplete");
          return settle(call, answer);
        }),
        stickies: [
          ...state.stickies,
          ...state.pending.flatMap((asked) =>
            decided.filter(({ approvalId }) => approvalId === asked.approvalId).flatMap((one) => stickyOf(one, asked)),
          ),
        ],
      });
    },
  };

  function deny(state: AgentRunState, expectedVersion: number): RunResult {
    const version = checkpoints.put({ ...state, status: "denied" }, expectedVersion);
    return { status: "denied", runId: state.runId, pendingDecisions: [], version };
  }
}

const isDecided = (decided: readonly RunDecision[], id: string) => decided.some(({ approvalId }) => approvalId === id);

function assertSameAgent({ fingerprint }: AgentRunState, { id = "agent", instructions, runState, tools }: AgentConfig) {
  const definitionRevision = runState?.definitionRevision ?? "";
  if (fingerprintOf({ id, instructions, definitionRevision, tools: toRegistry(tools) }) === fingerprint) return;
  throw runStateError("the agent is not the one that was suspended");
}

/** The tool's own word about an answer. */
function validateElicitation(
  { elicitation }: RunDecision,
  toolCallId: string,
  { gated, sessionId, runId }: AgentRunState,
  { tools }: AgentConfig,
): void {
  if (elicitation === undefined) return;
  const call = gated.find(({ id }) => id === toolCallId);
  const tool = call && toRegistry(tools).get(call.name);
  try {
    tool?.elicitation?.(call?.arguments as JsonObject, { sessionId, runId, toolCallId })?.validate?.(elicitation);
  } catch (error) {
    throw Object.assign(decisionError("INVALID", "the tool does not take the answer"), { cause: error });
  }
}
