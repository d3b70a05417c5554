import type { AgentEvent, AgentSession } from "./host.ts";

export interface RunProgress {
  readonly isRunning: boolean;
  close(): void;
}

export interface RunListener {
  /** The model is about to be asked. */
  onTurn(): void;
  /** The run ended, or was suspended. */
  onEnd(): void;
}

/** Where a run stands says the last of these; other events, known or not, say nothing about it. */
const STARTS: ReadonlySet<string> = new Set([
  "agent_started",
  "agent_resumed",
  "turn_started",
  "tool_execution_started",
]);
const ENDS: ReadonlySet<string> = new Set(["agent_finished", "agent_suspended", "agent_denied", "error"]);

/** Follows the runs of a session by its events. */
export function followRun(session: AgentSession, { onTurn, onEnd }: RunListener): RunProgress {
  // Old events are the ones to lose: a run whose end is missed would be steered for ever.
  const events = session.subscribe({ maxQueuedEvents: 256, overflow: "drop_oldest" })[Symbol.asyncIterator]();
  let isRunning = false;
  let isClosed = false;
  const hear = ({ type }: AgentEvent): void => {
    if (STARTS.has(type)) isRunning = true;
    if (type === "provider_turn_started") {
      isRunning = true;
      onTurn();
    }
    if (!ENDS.has(type)) return;
    isRunning = false;
    onEnd();
  };
  const follow = async (): Promise<void> => {
    for (let next = await events.next(); !next.done && !isClosed; next = await events.next()) hear(next.value);
  };
  // A host whose events end, or fail, has no run that could be steered.
  const ended = () => {
    isRunning = false;
  };
  follow().then(ended, ended);
  return {
    get isRunning() {
      return isRunning;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      isRunning = false;
      Promise.resolve(events.return?.()).catch(() => undefined);
    },
  };
}
