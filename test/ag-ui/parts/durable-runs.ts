import type { LifecycleOptions, Ownership, RunLifecycle, RunRef, RunResume } from "@human-plus/adapter-ag-ui/handler";
import { createSession, type SessionEvent } from "./prism-session.ts";

interface WaitingCall {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
}

interface Checkpoint {
  version: number;
  status: "suspended" | "running" | "succeeded" | "denied";
  readonly ownership: Ownership | undefined;
  pending: WaitingCall[];
}

/**
 * Runs that wait for a person, as Prism keeps them: checkpoints that are compared and set, decisions that are all valid or none,
 * a call that is rejected with no event of a tool, and a denial that ends the run.
 */
export class DurableRuns implements RunLifecycle {
  /** Calls that were executed, in order. */
  readonly executed: Array<{ readonly toolCallId: string; readonly args: unknown }> = [];
  /** Resumes that got as far as to the checkpoints. */
  readonly resumes: RunResume[] = [];
  readonly #checkpoints = new Map<string, Checkpoint>();

  /** A run that makes these calls, and waits for a decision about each. */
  start(
    ref: RunRef,
    calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args?: unknown }>,
    ownership?: Ownership,
  ) {
    const pending = calls.map(({ id, name, args = {} }) => ({
      approvalId: `a-${id}`,
      toolCallId: id,
      toolName: name,
      args,
    }));
    return createSession(async (say) => {
      say({ type: "agent_started" });
      say({ type: "turn_started", turn: 1 });
      say({ type: "message_started", message: { id: "m1", role: "assistant", content: [] } });
      say({ type: "message_delta", content: { type: "text", text: "May I?" } });
      say({ type: "message_finished", message: { id: "m1", role: "assistant", content: "May I?" } });
      say({ type: "turn_finished", turn: 1 });
      say({ type: "turn_started", turn: 2 }); // of a turn that never comes
      const checkpoint: Checkpoint = { version: 1, status: "suspended", ownership, pending };
      this.#checkpoints.set(ref.runId, checkpoint);
      say(suspended(checkpoint));
    }).stream("");
  }

  async status(ref: RunRef, { ownership }: LifecycleOptions) {
    const { status, version } = this.#find(ref, ownership);
    return { state: { status }, version };
  }

  resumeStream(ref: RunRef, resume: RunResume, { ownership, signal }: LifecycleOptions): AsyncIterable<SessionEvent> {
    return createSession(async (say) => {
      await Promise.resolve();
      const checkpoint = this.#find(ref, ownership);
      if (checkpoint.status !== "suspended" || checkpoint.version !== resume.expectedVersion)
        throw Object.assign(new Error("another resume came first"), { code: "ERR_PRISM_CHECKPOINT_CONFLICT" });
      const decided = decide(checkpoint, resume);
      this.resumes.push(resume);
      checkpoint.version++;
      if ("decision" in resume && resume.decision === "deny") {
        checkpoint.status = "denied";
        say({
          type: "agent_denied",
          interruption: { kind: "tool_approval", reason: "denied" },
          version: checkpoint.version,
        });
        return;
      }
      checkpoint.pending = checkpoint.pending.filter((call) => !decided.has(call.approvalId));
      if (checkpoint.pending.length > 0) {
        say(suspended(checkpoint));
        return;
      }
      checkpoint.status = "running";
      say({ type: "agent_resumed", version: checkpoint.version });
      for (const { call, args, isAllowed } of decided.values()) {
        if (!isAllowed) continue; // no event of a tool
        const made = { type: "tool_call", id: call.toolCallId, name: call.toolName, arguments: args };
        say({ type: "tool_execution_started", call: made });
        this.executed.push({ toolCallId: call.toolCallId, args });
        say({
          type: "tool_execution_finished",
          result: { toolCallId: call.toolCallId, name: call.toolName, value: "ok" },
        });
      }
      checkpoint.status = "succeeded";
      say({ type: "agent_finished" });
    }).stream("", { signal });
  }

  #find({ runId }: RunRef, ownership: Ownership | undefined): Checkpoint {
    const checkpoint = this.#checkpoints.get(runId);
    if (checkpoint === undefined || JSON.stringify(checkpoint.ownership) !== JSON.stringify(ownership))
      throw Object.assign(new Error(`no run ${runId}`), { code: "ERR_PRISM_AGENT_RUN_STATE" });
    return checkpoint;
  }
}

interface Decided {
  readonly call: WaitingCall;
  readonly args: unknown;
  readonly isAllowed: boolean;
}

function decide({ pending }: Checkpoint, resume: RunResume): Map<string, Decided> {
  if ("decision" in resume) {
    const isAllowed = resume.decision === "approve";
    return new Map(pending.map((call) => [call.approvalId, { call, args: call.args, isAllowed }]));
  }
  return new Map(
    resume.decisions.map(({ approvalId, outcome, modifiedArguments }) => {
      const call = pending.find((each) => each.approvalId === approvalId);
      if (call === undefined)
        throw Object.assign(new Error("unknown decision"), { code: "ERR_PRISM_DECISION_UNKNOWN" });
      return [approvalId, { call, args: modifiedArguments ?? call.args, isAllowed: outcome.startsWith("allow") }];
    }),
  );
}

function suspended({ version, pending }: Checkpoint): SessionEvent {
  const [only, ...others] = pending;
  return {
    type: "agent_suspended",
    version,
    interruption: {
      kind: "tool_approval",
      reason: others.length > 0 ? `${pending.length} calls wait` : `${only?.toolName} wants to write`,
      ...(others.length > 0 ? {} : { toolCallId: only?.toolCallId, toolName: only?.toolName }),
      pendingDecisions: pending.map(({ approvalId, toolCallId, toolName }) => ({
        approvalId,
        kind: "tool_approval",
        toolCallId,
        scope: { toolName, identity: "secret", argumentsHash: "secret" },
        reason: `${toolName} wants to write`,
      })),
    },
  };
}
