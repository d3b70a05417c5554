import type { HumanPlus, Reading } from "@human-plus/core";
import type { AttachmentOptions } from "./argument.ts";
import { closedError } from "./call-gate.ts";
import type { AgentEvent, AgentSession, ToolExecutionContext } from "./host.ts";
import { followEvents } from "./run-progress.ts";

/** How long a call waits to hear of its own start, in milliseconds. The host says it before it makes the call. */
const HEAR_MS = 1_000;

/** What the models of sessions have read of one surface, by what their hosts say of their runs. */
export class RunReadings {
  readonly #options: AttachmentOptions;
  readonly #sessions = new Map<string, FollowedSession>();
  #isClosed = false;

  constructor(options: AttachmentOptions) {
    this.#options = options;
  }

  /** @returns what ends it. @throws HumanPlusError `closed` */
  follow(session: AgentSession): () => void {
    if (this.#isClosed) throw closedError();
    this.#sessions.get(session.id)?.close();
    const { humanPlus, owner, attachmentId } = this.#options;
    const followed: FollowedSession = new FollowedSession(session, {
      begin: () => humanPlus.reading(owner, attachmentId),
      onClose: () => {
        if (this.#sessions.get(session.id) === followed) this.#sessions.delete(session.id);
      },
    });
    this.#sessions.set(session.id, followed);
    return () => followed.close();
  }

  /** What the model had read when it decided on a call; nothing where nobody follows its session. */
  async before({ sessionId, toolCallId, signal }: ToolExecutionContext): Promise<Reading | undefined> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return undefined;
    await session.started(toolCallId, signal);
    return await session.reading;
  }

  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) session.close();
  }
}

interface FollowOptions {
  readonly begin: () => ReturnType<HumanPlus["reading"]>;
  readonly onClose: () => void;
}

/** One session: a reading for each of its runs, which moves on whenever the model is asked. */
class FollowedSession {
  readonly #options: FollowOptions;
  readonly #stop: () => void;
  /** Calls of this turn that the host said to have started. */
  readonly #started = new Set<string>();
  readonly #waiting = new Map<string, () => void>();
  #reading: Promise<Reading | undefined> | undefined;

  constructor(session: AgentSession, options: FollowOptions) {
    this.#options = options;
    this.#stop = followEvents(session, {
      hear: (event) => this.#hear(event),
      onOver: () => this.close(),
    });
  }

  /** Nothing where none could be begun: calls are then pinned as they are without. */
  get reading(): Promise<Reading | undefined> | undefined {
    return this.#reading;
  }

  /** Resolves once everything that the host said before a call was heard. */
  async started(toolCallId: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#started.has(toolCallId)) return;
    const heard = Promise.withResolvers<void>();
    const timer = setTimeout(heard.resolve, HEAR_MS);
    signal?.addEventListener("abort", heard.resolve as () => void, { once: true });
    this.#waiting.set(toolCallId, heard.resolve);
    try {
      await heard.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", heard.resolve as () => void);
      this.#waiting.delete(toolCallId);
    }
  }

  close(): void {
    this.#stop();
    this.#end();
    this.#options.onClose();
  }

  #hear(event: AgentEvent): void {
    switch (event.type) {
      case "provider_turn_started":
        this.#started.clear();
        if (this.#reading === undefined) this.#reading = this.#options.begin().catch(() => undefined);
        else void this.#reading.then((reading) => reading?.advance());
        return;
      case "tool_execution_started": {
        const { id } = (event as { call?: { id?: unknown } }).call ?? {};
        if (typeof id !== "string") return;
        this.#started.add(id);
        this.#waiting.get(id)?.();
        return;
      }
      // A run that waits for a person goes on with calls that its model has decided on already.
      case "agent_started":
      case "agent_finished":
      case "agent_denied":
      case "error":
        this.#end();
    }
  }

  #end(): void {
    this.#reading = undefined;
    this.#started.clear();
    for (const resolve of this.#waiting.values()) resolve();
  }
}
