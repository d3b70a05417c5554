import { setTimeout as wait } from "node:timers/promises";

/** An event of a session, as Prism 0.0.25 and 0.3.0 have them. */
export type SessionEvent = { readonly type: string; readonly [member: string]: unknown };

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default 1_024 */
  readonly maxQueuedEvents?: number | undefined;
}

/** What a run does. Whatever it throws is the end of a run that failed. */
export type Script = (say: (event: SessionEvent) => void, signal: AbortSignal) => Promise<void>;

/** What a failed run throws, after it said so. */
export class AgentRunError extends Error {
  override readonly name = "AgentRunError";
}

/**
 * A session as Prism's is seen from outside, with what hosts trip over: its stream throws after the `error` event; who leaves it
 * aborts the run, and nobody then hears of its failure, so that Node does; a reader that lets 1,024 events pile up gets one event
 * that says so, and nothing of them.
 */
export function createSession(script: Script) {
  return {
    async *stream(
      _input: unknown,
      { signal, maxQueuedEvents = 1_024 }: StreamOptions = {},
    ): AsyncGenerator<SessionEvent> {
      const abort = new AbortController();
      signal?.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
      if (signal?.aborted) abort.abort(signal.reason);
      const queue: SessionEvent[] = [];
      let isClosed = false;
      let wake: () => void = () => undefined;
      const say = (event: SessionEvent) => {
        if (isClosed) return;
        queue.push({ sessionId: "s", runId: "pr", ...event });
        if (queue.length > maxQueuedEvents) {
          queue.splice(0, queue.length, {
            type: "event_subscriber_overflow",
            sessionId: "s",
            droppedEvents: queue.length,
          });
          isClosed = true;
        }
        wake();
      };
      const run = runScript(script, say, abort.signal);
      const ended = run.then(
        () => undefined,
        () => undefined,
      );
      void ended.then(() => {
        isClosed = true;
        wake();
      });
      let isDone = false;
      try {
        for (;;) {
          const event = queue.shift();
          if (event !== undefined) yield event;
          else if (isClosed) break;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
        isDone = true;
        await run;
      } finally {
        // Who left before the end: the run is aborted, and its failure is left to nobody.
        if (!isDone) {
          abort.abort(new Error("the reader left"));
          void rethrow(run);
        }
      }
    },
  };
}

async function rethrow(run: Promise<void>): Promise<void> {
  await run;
}

async function runScript(script: Script, say: (event: SessionEvent) => void, signal: AbortSignal): Promise<void> {
  try {
    await script(say, signal);
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    say({ type: "error", error: { name: "Error", message, ...(code === undefined ? {} : { code }) } });
    throw new AgentRunError(message, { cause: error });
  }
}

/** Waits as a model does: until it is aborted, and then it throws. */
export async function think(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}

/** What a run says that talks, calls a tool, and talks again, in the order of Prism. */
export function talkAndCall(texts: readonly string[] = ["Hel", "lo"]): SessionEvent[] {
  const call = { type: "tool_call", id: "c1", name: "read_board", arguments: { card: "budget" } };
  const message = (id: string, content: unknown[]) => ({ id, role: "assistant", content });
  return [
    { type: "agent_started" },
    { type: "turn_started", turn: 1 },
    { type: "provider_turn_started", turn: 1, metadata: { providerId: "p", model: "m" } },
    { type: "message_started", message: message("m1", []) },
    ...texts.map((text) => ({ type: "message_delta", content: { type: "text", text } })),
    { type: "message_delta", content: call },
    { type: "provider_turn_finished", turn: 1, metadata: { providerId: "p", model: "m" }, usage: { inputTokens: 3 } },
    { type: "message_finished", message: message("m1", [{ type: "text", text: texts.join("") }, call]) },
    { type: "turn_finished", turn: 1 },
    { type: "tool_execution_started", call },
    { type: "tool_execution_progress", toolCallId: "c1", name: "read_board", progress: { step: 1, of: 2 } },
    {
      type: "tool_execution_finished",
      result: { toolCallId: "c1", name: "read_board", value: { cards: ["budget"] } },
      metadata: { durationMs: 3, status: "completed" },
    },
    { type: "turn_started", turn: 2 },
    { type: "message_started", message: message("m2", []) },
    { type: "message_delta", content: { type: "text", text: "Done" } },
    { type: "message_finished", message: message("m2", [{ type: "text", text: "Done" }]) },
    { type: "turn_finished", turn: 2 },
    { type: "agent_finished", usage: { inputTokens: 6 }, finishReason: "turn_limit" },
  ];
}

/** A session that says this. */
export function sessionOf(events: readonly SessionEvent[], failure?: Error) {
  return createSession(async (say) => {
    for (const event of events) {
      say(event);
      await Promise.resolve();
    }
    if (failure !== undefined) throw failure;
  });
}
