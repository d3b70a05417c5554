import type { SurfaceSession } from "@human-plus/core";
import { type CanvasAgent, joinCanvas } from "../../../shared-canvas/src/agent/join-canvas.ts";

/** One session for each conversation: what one thread has read says nothing about what another one may write. */
export interface ThreadSessions extends AsyncDisposable {
  /** The same session for the same thread, as long as it is kept. */
  of(threadId: string): Promise<SurfaceSession>;
}

export interface ThreadSessionsOptions {
  shareLink: string;
  /** Threads that are kept; beyond it, the one that was used longest ago leaves the canvas. @default 8 */
  max?: number | undefined;
}

const TIDY = { name: "Tidy", color: "#3554d1" };

export function createThreadSessions({ shareLink, max = 8 }: ThreadSessionsOptions): ThreadSessions {
  const agents = new Map<string, Promise<CanvasAgent>>();

  async function leave(threadId: string): Promise<void> {
    const agent = agents.get(threadId);
    agents.delete(threadId);
    await (await agent)?.[Symbol.asyncDispose]();
  }

  /** A canvas that was gone may be there again: then the thread joins it anew. */
  async function isAttached(agent: Promise<CanvasAgent>): Promise<boolean> {
    return (await (await agent).session.status()).state === "attached";
  }

  return {
    async of(threadId) {
      const known = agents.get(threadId);
      if (known !== undefined && !(await isAttached(known))) await leave(threadId);
      const agent = agents.get(threadId) ?? joinCanvas({ shareLink, participant: TIDY });
      agents.delete(threadId);
      agents.set(threadId, agent);
      const [oldest] = agents.keys();
      if (agents.size > max && oldest !== undefined) await leave(oldest);
      return (await agent).session;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...agents.keys()].map(leave));
    },
  };
}
