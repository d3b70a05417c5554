import { randomUUID } from "node:crypto";
import type { AgentConfig } from "./agent.ts";
import { fingerprintOf } from "./checkpoints.ts";
import {
  coveredBy,
  type PendingDecision,
  pendingDecisionOf,
  type Settled,
  type StickyDecision,
  scopeOf,
  settle,
} from "./decisions.ts";
import { dispatchToolCall } from "./dispatch.ts";
import { suspension, toErrorInfo } from "./errors.ts";
import type { AgentEvent, EventFields } from "./events.ts";
import { callsOf } from "./provider.ts";
import { toRegistry } from "./registry.ts";
import type { Message, Tool, ToolCall, ToolResult } from "./shapes.ts";

export interface RunResult {
  readonly status: "succeeded" | "suspended" | "denied";
  readonly runId: string;
  /** Of a suspended run: what has to be decided, and at which version. */
  readonly pendingDecisions: readonly PendingDecision[];
  readonly version: number;
}

/** What of a session a run works with. */
export interface RunSession {
  readonly sessionId: string;
  /** The transcript of the session, which lasts. */
  readonly entries: Message[];
  /** Takes what was steered in since the last turn. */
  takeSteered(): Message[];
  emit(event: AgentEvent): Promise<void>;
  readonly signal: AbortSignal;
}

/** Where a run goes on after it was suspended. */
export interface ResumedRun {
  readonly runId: string;
  readonly version: number;
  readonly turn: number;
  readonly messages: Message[];
  readonly settled: readonly Settled[];
  readonly stickies: readonly StickyDecision[];
}

/** One run: turns of the model, and between them the calls it asked for. */
export async function runAgent(
  config: AgentConfig,
  session: RunSession,
  start: Message[] | ResumedRun,
): Promise<RunResult> {
  const resumed = Array.isArray(start) ? undefined : start;
  const run = new Run(config, session, resumed);
  if (resumed === undefined) await run.begin(start as Message[]);
  else await run.goOn(resumed);
  return await run.turns();
}

class Run {
  readonly #config: AgentConfig;
  readonly #session: RunSession;
  readonly #runId: string;
  readonly #registry: ReturnType<typeof toRegistry>;
  /** The model's list of tools stands for the whole run. */
  readonly #tools: readonly Tool[];
  readonly #messages: Message[];
  readonly #stickies: readonly StickyDecision[];
  readonly #allowed = new Set<string>();
  #gated: ToolCall[] = [];
  #pending: PendingDecision[] = [];
  #turn: number;
  #calls = 0;
  #version: number;

  constructor(config: AgentConfig, session: RunSession, resumed: ResumedRun | undefined) {
    this.#config = config;
    this.#session = session;
    this.#runId = resumed?.runId ?? randomUUID();
    this.#registry = toRegistry(config.tools);
    this.#tools = this.#registry.list();
    this.#messages = resumed?.messages ?? [...session.entries];
    this.#stickies = resumed?.stickies ?? [];
    this.#turn = resumed?.turn ?? 0;
    this.#version = resumed?.version ?? 0;
  }

  async begin(input: readonly Message[]): Promise<void> {
    await this.#emit({ type: "agent_started" });
    for (const message of input) this.#append(message);
  }

  /** What was decided runs now. Its results are in the session, and not in what the model is shown in this run. */
  async goOn({ settled, version }: ResumedRun): Promise<void> {
    await this.#emit({ type: "agent_resumed", version });
    for (const step of settled) {
      if ("run" in step) this.#allowed.add(step.run.id);
      const result = "run" in step ? await this.#dispatch(step.run) : step.result;
      this.#session.entries.push(toolMessage(result));
    }
  }

  async turns(): Promise<RunResult> {
    const { maxToolRounds = 8 } = this.#config.limits ?? {};
    for (let rounds = 0; ; rounds++) {
      await this.#emit({ type: "turn_started", turn: ++this.#turn });
      if (this.#pending.length > 0) return await this.#suspend();
      const calls = await this.#turnOfModel();
      await this.#emit({ type: "turn_finished", turn: this.#turn });
      if (calls.length === 0) return await this.#finish();
      if (rounds === maxToolRounds) return await this.#finish("turn_limit");
      await this.#round(calls);
      this.#session.signal.throwIfAborted();
    }
  }

  async #turnOfModel(): Promise<ToolCall[]> {
    for (const message of this.#session.takeSteered()) this.#append(message);
    const { provider, instructions } = this.#config;
    const turn = this.#turn;
    await this.#emit({ type: "provider_turn_started", turn });
    const system: Message[] =
      instructions === undefined ? [] : [{ role: "system", content: [{ type: "text", text: instructions }] }];
    try {
      const said = await provider.turn([...system, ...this.#messages], this.#tools, this.#session.signal);
      const calls = callsOf(said);
      const words = said.text === undefined ? [] : [{ type: "text", text: said.text }];
      const message: Message = { id: randomUUID(), role: "assistant", content: [...words, ...calls] };
      await this.#emit({ type: "message_started", message: { ...message, content: [] } });
      for (const content of message.content) await this.#emit({ type: "message_delta", content });
      await this.#emit({ type: "provider_turn_finished", turn });
      await this.#emit({ type: "message_finished", message });
      this.#append(message);
      return calls;
    } catch (error) {
      await this.#emit({ type: "provider_turn_finished", turn, error: toErrorInfo(error) });
      throw error;
    }
  }

  /** The calls of one turn: some at once where the loop allows it, and rows of the transcript in the order of the calls. */
  async #round(calls: readonly ToolCall[]): Promise<void> {
    const exclusive = calls.some(({ name }) => this.#registry.get(name)?.exclusive === true);
    const width = exclusive ? 1 : (this.#config.toolConcurrency ?? 1);
    for (let at = 0; at < calls.length; at += width) {
      const results = await Promise.all(calls.slice(at, at + width).map((call) => this.#gate(call)));
      for (const result of results) {
        // A marker that is the host's own. A tool that sets it loses its result.
        if (result !== undefined && result.metadata?.["approvalPending"] !== true) this.#append(toolMessage(result));
      }
    }
  }

  /** Dispatches a call, or keeps it for a decision. */
  async #gate(call: ToolCall): Promise<ToolResult | undefined> {
    if (!this.#isDurable()) return await this.#dispatch(call);
    const { sessionId, signal } = this.#session;
    const context = { sessionId, runId: this.#runId, toolCallId: call.id, signal };
    const sticky = coveredBy(this.#stickies, scopeOf(this.#registry, call, context));
    if (sticky === undefined) {
      this.#gated.push(call);
      this.#pending.push(pendingDecisionOf(this.#registry, call, context));
      return undefined;
    }
    const settled = settle(call, sticky);
    if ("result" in settled) return settled.result;
    this.#allowed.add(call.id);
    return await this.#dispatch(settled.run);
  }

  #isDurable(): boolean {
    return this.#config.runState?.interruptBeforeTool === true;
  }

  #dispatch(call: ToolCall): Promise<ToolResult> {
    const { maxToolCalls = 32 } = this.#config.limits ?? {};
    const { identity, ownership = {}, effectStore: store, tools: _, provider: __, ...policies } = this.#config;
    const { sessionId, signal } = this.#session;
    return dispatchToolCall(call, {
      ...policies,
      registry: this.#registry,
      sessionId,
      runId: this.#runId,
      signal,
      effects: { identity, ownership, store },
      chargeToolCall: () => ++this.#calls <= maxToolCalls,
      mayRun: ({ id }) => !this.#isDurable() || this.#allowed.has(id),
      emit: (event) => this.#emit(event),
    });
  }

  async #suspend(): Promise<RunResult> {
    const { runState, id = "agent", instructions, redactor } = this.#config;
    if (runState === undefined) throw suspension();
    const { checkpoints, definitionRevision } = runState;
    const { sessionId } = this.#session;
    const runId = this.#runId;
    const pending = this.#pending;
    const state = {
      status: "suspended" as const,
      agentId: id,
      sessionId,
      runId,
      fingerprint: fingerprintOf({ id, instructions, definitionRevision, tools: this.#registry }),
      turn: this.#turn - 1,
      messages: this.#messages,
      gated: this.#gated,
      pending,
      decided: [],
      stickies: [...this.#stickies],
    };
    this.#version = checkpoints.put(redactor?.redact(state) ?? state, this.#version);
    const interruption = interruptionOf(pending);
    await this.#emit({ type: "agent_suspended", interruption, version: this.#version });
    return { status: "suspended", runId, pendingDecisions: pending, version: this.#version };
  }

  async #finish(finishReason?: "turn_limit"): Promise<RunResult> {
    await this.#emit({ type: "agent_finished", ...(finishReason && { finishReason }) });
    return { status: "succeeded", runId: this.#runId, pendingDecisions: [], version: this.#version };
  }

  #append(message: Message): void {
    this.#messages.push(message);
    this.#session.entries.push(message);
  }

  #emit(event: EventFields): Promise<void> {
    const whole: AgentEvent = { ...event, sessionId: this.#session.sessionId, runId: this.#runId };
    return this.#session.emit(this.#config.redactor?.redact(whole) ?? whole);
  }
}

/** With one decision the interruption is about that; with several its reason is how many. */
function interruptionOf(pending: readonly PendingDecision[]) {
  const [first, ...more] = pending;
  const kind = first?.kind ?? "tool_approval";
  if (first === undefined || more.length > 0)
    return { kind, reason: `${pending.length} decisions`, pendingDecisions: pending };
  const { reason, toolCallId, scope } = first;
  return { kind, reason, toolCallId, toolName: scope.toolName, pendingDecisions: pending };
}

function toolMessage({ toolCallId, name, value, error, content = [], metadata }: ToolResult): Message {
  const block = { type: "tool_result" as const, toolCallId, name, result: value, ...(error && { error }) };
  return { role: "tool", content: [block, ...content], ...(metadata && { metadata }) };
}
