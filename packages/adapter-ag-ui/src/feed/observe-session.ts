import {
  type CallOptions,
  type CallResult,
  type ChangeReport,
  type ErrorCode,
  HumanPlusError,
  type SurfaceSession,
} from "@human-plus/core";
import { Listeners } from "./listeners.ts";
import type { SurfaceCall, SurfaceFeed, SurfaceOccurrence } from "./occurrence.ts";

/** A session whose operations are seen. Use it in place of the session that it was made from. */
export interface ObservedSession extends SurfaceSession, SurfaceFeed, Disposable {
  /** Ends the listening. The session goes on. */
  close(): void;
}

/** What says that nobody can reach the surface now. */
const unreachable: ReadonlySet<ErrorCode> = new Set([
  "surface_absent",
  "surface_unavailable",
  "attachment_unauthorized",
  "relay_unreachable",
  "relay_failed",
  "endpoint_refused",
]);

/**
 * The feed of a surface on an agent's side: what arrives unasked (a person acts, a proposal ends, tools change) and what the
 * agent does through the object that it gives back. Observing what is observed already gives the same object.
 */
export function observeSession(session: SurfaceSession): ObservedSession {
  if (isObserved(session)) return session;
  const listeners = new Listeners<SurfaceOccurrence>();
  const tell = (occurrence: SurfaceOccurrence) => listeners.tell(occurrence);
  let available: boolean | undefined;
  const reach = (now: boolean, code?: ErrorCode) => {
    if (available === now) return;
    available = now;
    tell({ type: "availability", available: now, code });
  };
  /** Sees what the outcome of an operation says of the surface. */
  const seen = async <T>(operation: Promise<T>): Promise<T> => {
    try {
      const value = await operation;
      reach(true);
      return value;
    } catch (error) {
      if (error instanceof HumanPlusError && unreachable.has(error.code)) reach(false, error.code);
      throw error;
    }
  };
  const report = (changes: ChangeReport): ChangeReport => {
    if (changes.answered && !changes.nothingChanged) {
      const { changes: rows, complete } = changes;
      tell({ type: "changed", changes: rows, complete, description: changes.describe() });
    }
    return changes;
  };
  const unsubscribe = [
    session.on("personActed", () => tell({ type: "person_acted" })),
    session.on("catalogueChanged", () => tell({ type: "tools_changed" })),
    session.on("proposalEnded", ({ state, tool, proposalId, reason }) =>
      tell({ type: "proposal", standing: state, tool, proposalId, reason }),
    ),
  ];
  const close = () => {
    for (const end of unsubscribe) end();
    listeners.clear();
  };

  async function call(tool: string, args = {}, options: CallOptions = {}): Promise<CallResult> {
    const made: SurfaceCall = { id: crypto.randomUUID(), tool, args };
    tell({ type: "call_started", call: made });
    try {
      const result = await seen(
        session.call(tool, args, {
          ...options,
          onProgress(step) {
            tell({ type: "call_progress", call: made, ...step });
            options.onProgress?.(step);
          },
        }),
      );
      const { isError, text, structuredContent, proposal } = result;
      tell({ type: "call_finished", call: made, isError, text, structuredContent });
      if (proposal !== undefined)
        tell({ type: "proposal", standing: "proposed", tool, proposalId: proposal.id, reason: undefined });
      return result;
    } catch (error) {
      const known = error instanceof HumanPlusError ? error : undefined;
      const changes = known?.surface?.changes ?? [];
      const { code = "failed", outcome = "unknown" } = known ?? {};
      tell({ type: "call_refused", call: made, code, outcome, changes, error: known });
      throw error;
    }
  }

  return {
    ...session,
    observe: (listener) => listeners.add(listener),
    tools: (options) => seen(session.tools(options)),
    call,
    changesSince: async (options) => report(await seen(session.changesSince(options))),
    async turn(options) {
      const turn = await seen(session.turn(options));
      report(turn.report);
      return turn;
    },
    async announce(activity) {
      await session.announce(activity);
      const { action, target, priority } = activity;
      tell({ type: "activity", action, target, priority });
    },
    async detach(options) {
      await session.detach(options);
      reach(false);
    },
    close,
    [Symbol.dispose]: close,
  };
}

function isObserved(session: SurfaceSession): session is ObservedSession {
  return "observe" in session && typeof session.observe === "function";
}
