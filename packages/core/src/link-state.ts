import type { AttachmentRow } from "./attachment.ts";
import type { Catalogue } from "./catalogue.ts";
import { methods } from "./gen/constants.ts";
import {
  safeParseAgentActivityNotification,
  safeParseProgressNotification,
  safeParseProposalNotification,
} from "./gen/parsers.ts";
import type { Notification, RequestId } from "./gen/types.ts";
import type { McpSession } from "./mcp-session.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";
import type { SurfaceEventEmitter } from "./surface-events.ts";
import type { TurnProtection } from "./turn.ts";

/** A call that is under way. */
interface RunningCall {
  readonly source: TextSource;
  readonly onProgress:
    | ((progress: { progress: number; total: number | undefined; message: string | undefined }) => void)
    | undefined;
  /** Ends the call because a person acted; absent where the caller did not ask for that. */
  readonly yieldToPerson: (() => void) | undefined;
}

/** What this process knows of one generation of an attachment. */
export interface LinkState {
  readonly attachmentId: string;
  readonly attachKey: string;
  /** The surface, as frames of text name it. */
  readonly source: string;
  readonly session: McpSession;
  /** By progress token. */
  readonly running: Map<RequestId, RunningCall>;
  /** Tools of proposals that wait for a person, by proposal id. */
  readonly proposals: Map<string, string>;
  /** While a protected turn lasts. */
  protection: TurnProtection | undefined;
  catalogue: { readonly value: Catalogue; readonly listedAt: number } | undefined;
  /** How often the tools changed, or may have. */
  toolChanges: number;
  /** Milliseconds since the epoch. */
  lastUsed: number;
}

/** The tools are others now, or may be. */
export function dropCatalogue(state: LinkState): void {
  state.catalogue = undefined;
  state.toolChanges++;
}

/** What tells one generation of an attachment from another. */
export type LinkName = Pick<AttachmentRow, "id" | "attachKey">;

/** Names one generation of an attachment. Nothing that is known of it holds for what is later attached under its id. */
export function linkIdOf({ id, attachKey }: LinkName): string {
  return `${id}:${attachKey}`;
}

const MAX_CHARACTERS = 1024;

/** Takes one notification of a surface to whom it concerns. Anything that cannot be read is dropped. */
export function dispatchNotification(
  state: LinkState,
  notification: Notification,
  events: SurfaceEventEmitter,
  guard: ResultGuard,
): void {
  const { attachmentId } = state;
  switch (notification.method) {
    case methods.toolsListChanged:
      dropCatalogue(state);
      events.emit("catalogueChanged", { attachmentId });
      return;
    case methods.agentActivity: {
      const parsed = safeParseAgentActivityNotification(notification);
      if (!parsed.ok || parsed.value.params.source !== "user") return;
      for (const call of state.running.values()) call.yieldToPerson?.();
      events.emit("personActed", { attachmentId });
      return;
    }
    case methods.progress: {
      const parsed = safeParseProgressNotification(notification);
      const call = parsed.ok ? state.running.get(parsed.value.params.progressToken) : undefined;
      if (!parsed.ok || call === undefined) return;
      const { progress, total, message } = parsed.value.params;
      const framed = message === undefined ? undefined : guard.excerpt(message, call.source, MAX_CHARACTERS);
      const step = { progress, total, message: framed };
      call.onProgress?.(step);
      events.emit("progress", { attachmentId, tool: call.source.tool, ...step });
      return;
    }
    case methods.proposal: {
      const parsed = safeParseProposalNotification(notification);
      const { id, state: ended, reason } = parsed.ok ? parsed.value.params : {};
      const tool = id === undefined ? undefined : state.proposals.get(id);
      if (id === undefined || ended === undefined || tool === undefined) return;
      state.proposals.delete(id);
      const framed =
        reason === undefined ? undefined : guard.excerpt(reason, { source: state.source, tool }, MAX_CHARACTERS);
      events.emit("proposalEnded", { attachmentId, tool, proposalId: id, state: ended, reason: framed });
      return;
    }
    default:
      return;
  }
}

const MAX_PROPOSALS = 256;

/** Remembers whose proposals to listen for; beyond the bound the oldest is forgotten. */
export function rememberProposal({ proposals }: LinkState, id: string, tool: string): void {
  proposals.set(id, tool);
  const [oldest] = proposals.keys();
  if (proposals.size > MAX_PROPOSALS && oldest !== undefined) proposals.delete(oldest);
}
