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

export interface EventListener {
  hear(event: AgentEvent): void;
  /** The host's events ended, or failed. */
  onOver(): void;
}

/** Hears the events of a session, in order. @returns what ends that */
export function followEvents(session: AgentSession, { hear, onOver }: EventListener): () => void {
  // Old events are the ones to lose: a run whose end is missed would be steered for ever.
  const events = session.subscribe({ maxQueuedEvents: 256, overflow: "drop_oldest" })[Symbol.asyncIterator]();
  let isClosed = false;
  const follow = async (): Promise<void> => {
    for (let next = await events.next(); !next.done && !isClosed; next = await events.next()) hear(next.value);
  };
  follow().then(onOver, onOver);
  return () => {
    if (isClosed) return;
    isClosed = true;
    Promise.resolve(events.return?.()).catch(() => undefined);
  };
}

/** Follows the runs of a session by its events. */
export function followRun(session: AgentSession, { onTurn, onEnd }: RunListener): RunProgress {
  let isRunning = false;
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
  // A host whose events are over has no run that could be steered.
  const onOver = () => {
    isRunning = false;
  };
  const stop = followEvents(session, { hear, onOver });
  return {
    get isRunning() {
      return isRunning;
    },
    close() {
      isRunning = false;
      stop();
    },
  };
}
