import { createHmac, randomBytes } from "node:crypto";
import type { AgentEventItem, AgentEventRequest, AgentEventSource } from "@human-plus/adapter-ag-ui/handler";
import type { SessionEvent } from "./prism-session.ts";

const terminal = new Set(["agent_finished", "agent_denied", "run_limit_exceeded", "error"]);

/**
 * Stored events of runs, as Prism keeps them: cursors are signed and bound to owner, session and run; one error for cursors that
 * are forged and for those of others; a follower is woken, and ends after a terminal record.
 */
export class EventStore implements AgentEventSource {
  readonly #secret = randomBytes(32);
  readonly #runs = new Map<string, SessionEvent[]>();
  #wake: Array<() => void> = [];

  append(run: Pick<AgentEventRequest, "ownership" | "sessionId" | "runId">, ...events: readonly SessionEvent[]): void {
    const key = keyOf(run);
    this.#runs.set(key, [...(this.#runs.get(key) ?? []), ...events]);
    for (const wake of this.#wake.splice(0)) wake();
  }

  async page({ after, limit = 100, ...run }: AgentEventRequest) {
    const all = this.#runs.get(keyOf(run)) ?? [];
    const from = this.#position(run, after);
    const items = all.slice(from, from + limit).map((event, index) => this.#item(run, event, from + index));
    const isLast = from + items.length >= all.length;
    const last = items.at(-1);
    return {
      items,
      ...(isLast || last === undefined ? {} : { nextCursor: last.cursor }),
      terminal: isLast && terminal.has(String(all.at(-1)?.type)),
    };
  }

  async *subscribe({ after, signal, ...run }: AgentEventRequest): AsyncGenerator<AgentEventItem> {
    for (let at = this.#position(run, after); signal?.aborted !== true; at++) {
      let event = this.#runs.get(keyOf(run))?.[at];
      while (event === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake.push(resolve);
          signal?.addEventListener("abort", () => resolve(), { once: true });
        });
        if (signal?.aborted) return;
        event = this.#runs.get(keyOf(run))?.[at];
      }
      yield this.#item(run, event, at);
      if (terminal.has(event.type)) return;
    }
  }

  #item(run: Parameters<typeof keyOf>[0], event: SessionEvent, at: number): AgentEventItem {
    return { record: { id: `e${at}`, event }, cursor: `${at + 1}.${this.#sign(run, at + 1)}` };
  }

  #position(run: Parameters<typeof keyOf>[0], cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    const [at, signature] = cursor.split(".");
    if (this.#sign(run, Number(at)) === signature) return Number(at);
    throw Object.assign(new Error("the cursor is none: secret"), { code: "ERR_PRISM_AGENT_EVENT_SOURCE_CURSOR" });
  }

  #sign(run: Parameters<typeof keyOf>[0], at: number): string {
    return createHmac("sha256", this.#secret)
      .update(`${keyOf(run)}/${at}`)
      .digest("base64url");
  }
}

function keyOf({ ownership, sessionId, runId }: Pick<AgentEventRequest, "ownership" | "sessionId" | "runId">): string {
  return JSON.stringify([ownership, sessionId, runId]);
}
