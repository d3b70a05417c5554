import {
  type AgentActivityNotification,
  type ChangeRow,
  isRevision,
  isSurfaceId,
  type JsonObject,
  jsonRpcVersion,
  methods,
  type ProposalNotification,
  type ProposalState,
  rpcErrorCodes,
  type ToolsListChangedNotification,
} from "@human-plus/core/protocol";
import { createAlarm } from "./alarm.ts";
import { answerFeed } from "./attribution.ts";
import type { Change, Hand } from "./change.ts";
import { createChangeLog } from "./change-log.ts";
import { createMarkers } from "./marker.ts";
import { createObservable, type Observable } from "./observable.ts";
import { createPresence, type Participant } from "./presence.ts";
import { createProposals, type PendingProposal } from "./proposals.ts";
import { randomText } from "./random.ts";
import { runApart } from "./run-apart.ts";
import { createServer, type SurfaceChannel } from "./server.ts";
import type { CommitOptions, ToolOptions } from "./tool.ts";
import { createToolList, FEED_TOOL } from "./tool-list.ts";
import { type UndoOutcome, undoLatest } from "./undo.ts";
import { createWriter } from "./writer.ts";

/** Something that happened, for people. */
export type HistoryEntry = { readonly at: number } & (
  | { readonly type: "change"; readonly change: Change; readonly hand: Hand; readonly by: string | undefined }
  | {
      readonly type: "refused";
      readonly tool: string;
      readonly participantId: string | undefined;
      readonly by: string | undefined;
      /** What stood against the call, hands relative to the caller. */
      readonly changes: readonly ChangeRow[];
    }
  | {
      readonly type: "proposal";
      readonly state: "proposed" | ProposalState;
      readonly tool: string;
      readonly summary: string;
      readonly participantId: string | undefined;
      readonly by: string | undefined;
    }
);

/** What a user interface shows. Names in it are untrusted text. */
export interface SurfaceSnapshot {
  /** Agents that take part, in the order in which they were last seen. */
  readonly participants: readonly Participant[];
  /** The latest things that happened, the newest last. */
  readonly history: readonly HistoryEntry[];
  /** What waits for a person. */
  readonly proposals: readonly PendingProposal[];
}

export interface SurfaceOptions {
  /** Names the surface inside its application: 1 to 128 characters. */
  id: string;
  /** The kind of application; agents see it as the server's name. */
  application: string;
  /** The application's version, for agents. @default "0" */
  version?: string | undefined;
  /** Words about the surface, which agents treat as untrusted. @default none */
  instructions?: string | undefined;
  /**
   * How many changes the log keeps: a change counts one, and one more for each handle it also touches and each container
   * it is in. A pin from before them is stale. @default 10_000
   */
  maxChanges?: number | undefined;
  /** The container of a handle, now. Moving or deleting a container then counts for what is in it. @default no containers */
  parentOf?: ((handle: string) => string | undefined) | undefined;
  /**
   * The version of the state, or anything else that differs after every change: finds what was changed outside a commit.
   * For development. @default not looked for
   */
  fingerprint?: (() => unknown) | undefined;
  /** The feed tells several changes of one handle, of one kind and by one hand, as one. @default false */
  coalesceChanges?: boolean | undefined;
  /** Calls that run at a time; one more is answered as busy. @default 64 */
  maxConcurrentCalls?: number | undefined;
  /** Entries of the history in the snapshot. @default 200 */
  maxHistory?: number | undefined;
  /** Participants in the snapshot; beyond it, whoever was seen longest ago goes. @default 100 */
  maxParticipants?: number | undefined;
  /** How long an activity is shown, in milliseconds. @default 30_000 */
  activityTtlMs?: number | undefined;
  /** How long a participant that does nothing is shown, in milliseconds. @default 300_000 */
  participantTtlMs?: number | undefined;
  /** Proposals that wait for a person at a time; one more is answered as too many. @default 100 */
  maxProposals?: number | undefined;
  /** How long a proposal waits for a person, in milliseconds. @default 300_000 */
  proposalTtlMs?: number | undefined;
  /** Agents are told at most this often that a person acts, in milliseconds. @default 250 */
  activityIntervalMs?: number | undefined;
  /**
   * A handler failed with something else than a ToolError, gave what is no JSON, or changed state outside a commit.
   *
   * @default reportError, or console.error where there is none
   */
  onError?: ((error: unknown, tool: string) => void) | undefined;
  /** The time in milliseconds since 1970. @default Date.now */
  now?: (() => number) | undefined;
}

export interface ByOptions extends CommitOptions {
  /** Whose hand it was. @default {type: "human"} */
  by?: Hand | undefined;
}

export interface Surface extends Observable<SurfaceSnapshot> {
  readonly id: string;
  readonly application: string;
  /** Offers a tool to agents. Returns how to withdraw it. @throws TypeError for a reserved, taken or malformed name */
  tool<A = JsonObject>(options: ToolOptions<A>): () => void;
  /** Applies and records what a person does, in one tick. Never refused. */
  commit<T>(changes: Change | readonly Change[], apply: () => T, options?: ByOptions): T;
  /** Records what has just happened, in the same tick. Inside an `apply` it becomes a part of that commit. */
  recordChange(changes: Change | readonly Change[], options?: ByOptions): void;
  /**
   * Takes back the latest change of a participant or a person, if nobody touched the same things since.
   *
   * @param id of whom @default the person without an id
   */
  undo(id?: string, options?: { by?: Hand | undefined }): UndoOutcome;
  /** A marker for the state now, as a read would mint it. */
  revision(): string;
  /** Opens a way to agents; `connectSurface` does it for a relay. */
  open(send: (text: string) => void): SurfaceChannel;
  /** Ends all channels and timers. */
  close(): void;
}

const HUMAN: Hand = { type: "human" };

/** Makes the half of the protocol that an application owns. */
export function createSurface({
  id,
  application,
  version = "0",
  instructions,
  maxChanges = 10_000,
  parentOf,
  fingerprint,
  coalesceChanges = false,
  maxConcurrentCalls = 64,
  maxHistory = 200,
  maxParticipants = 100,
  activityTtlMs = 30_000,
  participantTtlMs = 300_000,
  maxProposals = 100,
  proposalTtlMs = 300_000,
  activityIntervalMs = 250,
  // biome-ignore lint/suspicious/noConsole: in Node a tool that fails must not end the process, and must not be missed
  onError: hearError = globalThis.reportError ?? console.error,
  now = Date.now,
}: SurfaceOptions): Surface {
  if (!isSurfaceId(id)) throw new TypeError("the id of a surface is text of 1 to 128 characters");
  const log = createChangeLog(maxChanges);
  const markers = createMarkers(randomText(8));
  const channels = new Set<{ send: (text: string) => void; channel: SurfaceChannel }>();
  const history: HistoryEntry[] = [];
  let inTool = false;
  /** When agents may be told again that a person acts; waiting if they have to be. */
  let activity = { allowedAt: 0, waiting: false };
  let listChanged = false;

  const onError = (error: unknown, tool: string) => runApart(() => hearError(error, tool));

  const observable = createObservable<SurfaceSnapshot>(() => ({
    participants: presence.list(),
    history: [...history],
    proposals: proposals.list(),
  }));
  const alarm = createAlarm((time) => Math.min(presence.age(time), proposals.age(time), tellActivity(time)), now);
  const presence = createPresence({
    surfaceId: id,
    activityTtlMs,
    participantTtlMs,
    maxParticipants,
    now,
    onChange: changed,
  });
  const writer = createWriter({
    log,
    parentOf,
    fingerprint,
    onOutside: (during) => onError(new Error(`state changed outside a commit, seen at: ${during}`), during),
    onCommit({ hand, changes }) {
      const by = hand.type === "human" ? hand.name : presence.get(hand.id)?.name;
      for (const change of changes) tell({ type: "change", at: now(), change, hand, by });
      if (hand.type === "human") activity.waiting = true;
      changed();
    },
  });
  const proposals = createProposals({
    max: maxProposals,
    ttlMs: proposalTtlMs,
    now,
    createId: () => randomText(16),
    assertHost() {
      if (inTool) throw new Error("a tool cannot decide a proposal");
    },
    onChange: changed,
    onEnd(proposal, params) {
      const { tool, summary, participantId } = proposal;
      const by = presence.get(participantId)?.name;
      tell({ type: "proposal", at: now(), state: params.state, tool, summary, participantId, by });
      broadcast({ jsonrpc: jsonRpcVersion, method: methods.proposal, params } satisfies ProposalNotification);
      changed();
    },
  });
  const tools = createToolList(() => {
    if (listChanged || channels.size === 0) return;
    listChanged = true;
    queueMicrotask(() => {
      listChanged = false;
      broadcast({ jsonrpc: jsonRpcVersion, method: methods.toolsListChanged } satisfies ToolsListChangedNotification);
    });
  });
  const openChannel = createServer({
    application,
    version,
    instructions,
    maxConcurrentCalls,
    log,
    markers,
    writer,
    tools,
    presence,
    now,
    asTool(run) {
      const outer = inTool;
      inTool = true;
      try {
        return run();
      } finally {
        inTool = outer;
      }
    },
    feed,
    propose(tool, participantId, { changes, summary, write }) {
      const proposal = proposals.add({ tool, participantId, summary, changes }, write);
      const by = presence.get(participantId)?.name;
      tell({ type: "proposal", at: now(), state: "proposed", tool, summary, participantId, by });
      changed();
      return { id: proposal.id, state: "proposed", expiresInMs: proposalTtlMs };
    },
    onRefused(tool, participantId, { changes }) {
      const by = presence.get(participantId)?.name;
      tell({ type: "refused", at: now(), tool, participantId, by, changes });
      changed();
    },
    onError,
  });

  function tell(entry: HistoryEntry): void {
    history.push(entry);
    if (history.length > maxHistory) history.splice(0, history.length - maxHistory);
  }

  function changed(): void {
    observable.changed();
    alarm.check();
  }

  function broadcast(frame: object): void {
    const text = JSON.stringify(frame);
    for (const { send } of channels) send(text);
  }

  function tellActivity(time: number): number {
    if (!activity.waiting) return Number.POSITIVE_INFINITY;
    if (activity.allowedAt > time) return activity.allowedAt;
    activity = { allowedAt: time + activityIntervalMs, waiting: false };
    const params = { source: "user" } as const;
    broadcast({ jsonrpc: jsonRpcVersion, method: methods.agentActivity, params } satisfies AgentActivityNotification);
    return Number.POSITIVE_INFINITY;
  }

  function feed(args: JsonObject, asker: string | undefined): ReturnType<Parameters<typeof createServer>[0]["feed"]> {
    writer.inspect(FEED_TOOL.name);
    const { since: marker } = args;
    if (marker !== undefined && !isRevision(marker))
      return { error: { code: rpcErrorCodes.invalidParams, message: "since is a marker, or is left out." } };
    const minted = marker === undefined ? undefined : markers.read(marker);
    const since = minted !== undefined && minted.base <= log.head ? minted : undefined;
    const foreign = marker !== undefined && since === undefined;
    const { reading, ...answer } = answerFeed(log, { asker, since, foreign, coalesce: coalesceChanges });
    return {
      result: {
        content: [{ type: "text", text: JSON.stringify(answer) }],
        isError: false,
        _meta: { revision: markers.mint(reading), ...answer },
      },
    };
  }

  tools.add(FEED_TOOL);
  return {
    id,
    application,
    subscribe: observable.subscribe,
    getSnapshot: observable.getSnapshot,
    tool: (options) => tools.add(options as ToolOptions<never>),
    commit: (changes, apply, { by = HUMAN, undo } = {}) => writer.write({ changes, apply, hand: by, undo }).value,
    recordChange: (changes, { by = HUMAN, undo } = {}) => writer.record(changes, by, undo),
    undo: (of, { by = HUMAN } = {}) =>
      undoLatest(log, writer, { ofHand: (hand) => hand.id === of && (of !== undefined || hand.type === "human"), by }),
    revision: () => markers.mint({ base: log.head, seen: [] }),
    open(send) {
      const channel = openChannel(send);
      const entry = { send, channel };
      channels.add(entry);
      return {
        ...channel,
        close() {
          channels.delete(entry);
          channel.close();
        },
      };
    },
    close() {
      alarm.close();
      for (const { channel } of channels) channel.close();
      channels.clear();
    },
  };
}
