import { randomUUID } from "node:crypto";
import type { AgentConfig } from "./agent.ts";
import { AgentRunError, toErrorInfo } from "./errors.ts";
import { type AgentEvent, createEventHub, type SubscribeOptions } from "./events.ts";
import { type ResumedRun, type RunResult, runAgent } from "./run.ts";
import type { Message } from "./shapes.ts";

export type RunInput = string | Message | Message[];

export interface AgentSession {
  readonly id: string;
  /** @throws AgentRunError when the run failed or was aborted */
  run(input: RunInput, options?: { signal?: AbortSignal }): Promise<RunResult>;
  /** The events of one run; then it throws what the run failed with. Leaving it early aborts the run. */
  stream(input: RunInput, options?: SubscribeOptions & { signal?: AbortSignal }): AsyncGenerator<AgentEvent, void>;
  /** Puts words into a run that is under way: they arrive before the model's next turn. */
  steer(input: RunInput, options?: { softInterrupt?: boolean }): Promise<void>;
  subscribe(options?: SubscribeOptions): AsyncIterableIterator<AgentEvent>;
  abort(reason?: string): void;
  entries(): readonly Message[];
  /** Subscriptions that are open: what is released cleanly leaves none. */
  readonly subscribers: number;
  /** Goes on with a suspended run. */
  resume(run: ResumedRun): Promise<RunResult>;
}

const MAX_STEERED = 8;
const MAX_STEERED_BYTES = 64 * 1024;

export function createAgentSession(
  config: AgentConfig,
  { id = randomUUID(), entries = [] }: { id?: string; entries?: Message[] } = {},
): AgentSession {
  const hub = createEventHub();
  let steered: Message[] = [];
  let running: { controller: AbortController; runId: string } | undefined;

  async function start(input: Message[] | ResumedRun, signal?: AbortSignal): Promise<RunResult> {
    if (running !== undefined) throw new Error("a run of this session is under way");
    const controller = new AbortController();
    const own = { controller, runId: "" };
    running = own;
    const stop = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await runAgent(
        config,
        {
          sessionId: id,
          entries,
          signal: controller.signal,
          takeSteered: () => steered.splice(0),
          emit(event) {
            own.runId = event.runId;
            return hub.emit(event);
          },
        },
        input,
      );
    } catch (error) {
      await hub.emit({ type: "error", error: toErrorInfo(error), sessionId: id, runId: own.runId });
      throw new AgentRunError(controller.signal.aborted ? "aborted" : "failed", { cause: error });
    } finally {
      signal?.removeEventListener("abort", stop);
      running = undefined;
    }
  }

  const isLast = ({ type }: AgentEvent) =>
    ["agent_finished", "agent_suspended", "agent_denied", "error", "event_subscriber_overflow"].includes(type);

  return {
    id,
    run: async (input, { signal } = {}) => start(toMessages(input), signal),
    resume: start,
    async *stream(input, { signal, ...options } = {}) {
      const events = hub.subscribe(options);
      const ended = start(toMessages(input), signal);
      let left = true;
      try {
        for await (const event of events) {
          yield event;
          if (isLast(event)) break;
        }
        left = false;
      } finally {
        if (left) running?.controller.abort("the stream was left");
        await events.return?.();
      }
      // Whoever leaves at the error event never gets here: the rejection is then nobody's, and Node ends the process.
      await ended;
    },
    async steer(input) {
      const added = toMessages(input);
      const next = [...steered, ...added];
      if (next.length > MAX_STEERED || Buffer.byteLength(JSON.stringify(next)) > MAX_STEERED_BYTES)
        throw new Error("too much is waiting to be steered in");
      steered = next;
      await hub.emit({ type: "queue_updated", size: steered.length, sessionId: id, runId: running?.runId ?? "" });
    },
    subscribe: hub.subscribe,
    abort(reason) {
      running?.controller.abort(new Error(reason ?? "aborted"));
    },
    entries: () => entries,
    get subscribers() {
      return hub.subscribers;
    },
  };
}

function toMessages(input: RunInput): Message[] {
  if (typeof input === "string") return [{ role: "user", content: [{ type: "text", text: input }] }];
  return Array.isArray(input) ? input : [input];
}
