import { type AnnounceOptions, buildAnnouncement } from "./announcement.ts";
import { invalidArgument } from "./argument.ts";
import type {
  AttachmentRow,
  AttachmentState,
  ChangeFeedState,
  ConflictDetectionState,
  Discovery,
  ObservedRevision,
} from "./attachment.ts";
import { type AttachmentStore, MemoryAttachmentStore } from "./attachment-store.ts";
import type { CallResult } from "./call-result.ts";
import { type ChangeFeedReport, type ChangeReport, changeFeedReport } from "./change-feed.ts";
import { type ConflictDetectionReport, conflictDetectionReport } from "./conflict-detection.ts";
import { HumanPlusError } from "./error.ts";
import { contractVersion, limits } from "./gen/constants.ts";
import type { Implementation, JsonObject } from "./gen/types.ts";
import { Invitation, type InvitationFields } from "./invitation.ts";
import { createParticipant, type Participant, type ParticipantOptions } from "./participant.ts";
import type { Reading } from "./reading.ts";
import { createResultGuard } from "./result-guard.ts";
import { SurfaceClient } from "./surface-client.ts";
import { SurfaceEventEmitter, type SurfaceEventListener, type SurfaceEventName } from "./surface-events.ts";
import { createSurfaceSession, type SurfaceSession } from "./surface-session.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import type { RelayTransport } from "./transport.ts";
import { TrustPolicy } from "./trust-policy.ts";
import type { Turn, TurnOptions } from "./turn.ts";

export interface HumanPlusOptions {
  /** Carries frames: `createSseTransport(...)` or another. It is closed with this client. */
  transport: RelayTransport;
  /** Keeps attachments; share one among workers. @default in this process */
  store?: AttachmentStore | undefined;
  /** Names this program to surfaces. @default human-plus and the contract's version */
  clientInfo?: Implementation | undefined;
  /** How long an operation may take in all, in milliseconds. @default 30_000 */
  timeoutMs?: number | undefined;
  /** UTF-8 bytes of text that one result may hand to a model. A larger one is refused, never cut. @default 65_536 */
  maxResultBytes?: number | undefined;
  /** @default Date.now */
  now?: (() => number) | undefined;
  /** Mints ids nobody can guess. @default crypto.randomUUID */
  randomId?: (() => string) | undefined;
}

export interface AttachOptions {
  /** Whoever may use the attachment; every operation presents it again. */
  owner: string;
  /** From the surface's owner, or `Invitation.fromLink(...)`. */
  invitation: Invitation | InvitationFields;
  /** Who the agent is to the people at the surface. */
  participant: Participant | ParticipantOptions;
  /** Which tools may be called. Nothing is sent before trust is declared. @default TrustPolicy.undeclared */
  trust?: TrustPolicy | undefined;
  /** Locates the attachment; attaching again under the same id and owner begins its next generation. @default minted */
  id?: string | undefined;
  /** Refuse calls when the surface is known to mint no revisions. @default false */
  requireRevision?: boolean | undefined;
  /** When tools are listed again. @default "cached" */
  discovery?: Discovery | undefined;
}

/** What every operation that reaches the network takes. */
export interface OperationOptions {
  /** Ends the operation with `aborted`. */
  signal?: AbortSignal | undefined;
  /** For all of the operation, in milliseconds. @default the client's timeoutMs */
  timeoutMs?: number | undefined;
}

export interface ListToolsOptions extends OperationOptions {
  /** Ask the surface, whatever was listed before. @default false */
  fresh?: boolean | undefined;
}

export interface ChangesSinceOptions extends OperationOptions {
  /**
   * Look up what changed since this marker. That is no reading: what is news for the agent stays news, and calls stay
   * pinned to what they were. @default the last marker that was read, and what is told is news no more
   */
  since?: string | undefined;
  /** Ask for one conversation of a model, since what it has read: it has read the report once it advances. @default for whoever uses the attachment */
  reading?: Reading | undefined;
}

/** One step of a running call. `message` is the surface's text, framed as data. */
export interface CallProgress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

export interface CallOptions extends OperationOptions {
  /** Hears how far the call has come. */
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** End the call with `human_took_control` when a person acts on the surface while it runs. @default false */
  yieldToPerson?: boolean | undefined;
  /** `ToolDefinition.digest()` of what the caller was shown: a tool that is defined otherwise by now is not called. @default none */
  digest?: string | undefined;
  /** Pins the call to what this conversation of a model had read when it decided on it. @default what was last read, by anybody */
  reading?: Reading | undefined;
}

/** Where an attachment stands. */
export interface AttachmentStatus {
  readonly id: string;
  readonly state: AttachmentState;
  readonly generation: number;
  readonly surfaceId: string;
  readonly application: string;
  readonly participant: Participant;
  readonly conflictDetection: ConflictDetectionState;
  readonly changeFeed: ChangeFeedState;
  /** What calls are pinned to; once the surface refused that as stale, what they were pinned to. */
  readonly pin: (ObservedRevision & { readonly isRefused: boolean }) | undefined;
}

/**
 * An agent's side of live surfaces. Every operation presents the owner again: ids locate an attachment, they do not
 * authorise. Everything rejects with `HumanPlusError`; its `outcome` says what became of the call.
 */
export interface HumanPlus {
  /** Remembers an invitation. Touches no network. @throws `invalid_argument`, `invalid_invitation`, `attachment_not_found` when the id is another owner's */
  attach(options: AttachOptions): Promise<SurfaceSession>;
  /** A view bound to one attachment. Looks nothing up. */
  session(owner: string, id: string): SurfaceSession;
  /** The tools that trust admits. @throws `trust_undeclared`, `tool_definition_changed`, `catalogue_refused` and what a transport throws */
  tools(owner: string, id: string, options?: ListToolsOptions): Promise<readonly ToolDefinition[]>;
  /**
   * Calls a tool, pinned to the revision that was last read. Calls of one attachment run one after another.
   * @throws `tool_refused`, `tool_definition_changed`, `surface_changed_under_you`, `surface_error`, `result_refused` and what `tools` throws
   */
  call(owner: string, id: string, tool: string, args?: JsonObject, options?: CallOptions): Promise<CallResult>;
  /** Asks what changed since this agent last read the surface, or since a marker. A surface without a feed gives `answered: false`. */
  changesSince(owner: string, id: string, options?: ChangesSinceOptions): Promise<ChangeReport>;
  /** Tells the people at the surface what the agent is doing. Never waits for the network; a failure shows as the event `announceFailed`. */
  announce(owner: string, id: string, activity: AnnounceOptions): Promise<void>;
  /**
   * Begins a turn of an agent loop: asks what changed, and says what to tell the model and which handles to leave alone.
   * With `protect`, calls that name those handles are refused with `deferred_to_person` until the turn ends.
   */
  turn(owner: string, id: string, options?: TurnOptions): Promise<Turn>;
  /**
   * Follows what one conversation of a model has read, for calls that it decides on together: see `Reading`. It begins with what
   * has been read through the attachment, so begin a run with `turn`, and then this. Reads the store only.
   */
  reading(owner: string, id: string): Promise<Reading>;
  /** What is known of the surface's conflict detection. Reads the store only. */
  conflictDetection(owner: string, id: string): Promise<ConflictDetectionReport>;
  /** What is known of the surface's change feed. Reads the store only. */
  changeFeed(owner: string, id: string): Promise<ChangeFeedReport>;
  status(owner: string, id: string): Promise<AttachmentStatus>;
  /** Leaves the surface. A surface that is already gone is a success. */
  detach(owner: string, id: string, options?: OperationOptions): Promise<void>;
  /** Records what a host learned elsewhere: the surface is gone. */
  markUnavailable(owner: string, id: string): Promise<void>;
  /** Records what a host learned elsewhere: the token is no longer accepted. */
  markUnauthorized(owner: string, id: string): Promise<void>;
  /** Keeps the receiving leg open between calls, so that events arrive. Gives back what ends that. */
  watch(owner: string, id: string): Promise<() => void>;
  /** Hears what arrives unasked, of every attachment. Events come while a leg is open: during calls, and with `watch`. */
  on<E extends SurfaceEventName>(name: E, listener: SurfaceEventListener<E>): () => void;
  /** Ends what runs with `closed`, and leaves no timer and no socket behind. Attachments stay in the store. */
  close(): Promise<void>;
}

export function createHumanPlus({
  transport,
  store = new MemoryAttachmentStore(),
  clientInfo = { name: "human-plus", version: contractVersion },
  timeoutMs = limits.exchangeTimeoutMs,
  maxResultBytes = limits.resultBytes,
  now = Date.now,
  randomId = () => crypto.randomUUID(),
}: HumanPlusOptions): HumanPlus {
  const events = new SurfaceEventEmitter();
  const guard = createResultGuard({ maxBytes: maxResultBytes });
  const client = new SurfaceClient({ transport, store, clientInfo, guard, events, now, randomId });
  let closed = false;

  const authorised = async (owner: string, id: string): Promise<AttachmentRow> => {
    if (closed) throw new HumanPlusError("closed", "this client was closed");
    const row = await store.get(requireText("id", id));
    if (row === undefined || row.owner !== requireText("owner", owner)) {
      throw new HumanPlusError("attachment_not_found", "there is no such attachment for this owner");
    }
    return row;
  };
  const usable = async (owner: string, id: string): Promise<AttachmentRow> =>
    assertAttached(await authorised(owner, id));
  const mark = async (owner: string, id: string, state: AttachmentState): Promise<void> => {
    const row = await authorised(owner, id);
    await client.end(row, state);
    if (client.forget(row)) events.emit("attachmentEnded", { attachmentId: id, state });
  };
  const limitsOf = (options: OperationOptions = {}) => ({
    signal: options.signal,
    timeoutMs: requireTimeout(options.timeoutMs ?? timeoutMs),
  });

  const humanPlus: HumanPlus = {
    async attach({
      owner,
      invitation,
      participant,
      trust = TrustPolicy.undeclared,
      id = randomId(),
      requireRevision = false,
      discovery = "cached",
    }) {
      if (closed) throw new HumanPlusError("closed", "this client was closed");
      requireText("owner", owner);
      const stored = await store.get(requireText("id", id));
      if (stored !== undefined && stored.owner !== owner) {
        throw new HumanPlusError("attachment_not_found", "there is no such attachment for this owner");
      }
      const who = createParticipant(participant as ParticipantOptions);
      const row: AttachmentRow = {
        id,
        owner,
        generation: (stored?.generation ?? 0) + 1,
        attachKey: crypto.randomUUID(),
        state: "attached",
        invitation: invitation instanceof Invitation ? invitation : new Invitation(invitation),
        participant: who,
        client: who.id,
        trust,
        requireRevision,
        discovery,
        revision: undefined,
        lastRead: undefined,
        conflictDetection: "not_observed",
        changeFeed: "not_observed",
        evidence: {},
        createdAt: now(),
        updatedAt: now(),
      };
      await store.put(row, stored?.generation ?? 0);
      if (stored !== undefined) client.forget(stored);
      return humanPlus.session(owner, id);
    },
    session: (owner, id) => createSurfaceSession(humanPlus, owner, id),
    tools: async (owner, id, options = {}) =>
      client.tools(await usable(owner, id), { ...options, ...limitsOf(options) }),
    call: async (owner, id, tool, args = {}, options = {}) =>
      client.call(await usable(owner, id), tool, args, { ...options, ...limitsOf(options) }),
    changesSince: async (owner, id, options = {}) =>
      client.changesSince(await usable(owner, id), {
        since: requireMarker(options.since),
        reading: options.reading,
        ...limitsOf(options),
      }),
    async announce(owner, id, activity) {
      const row = await usable(owner, id);
      client.announce(row, buildAnnouncement(row, activity));
    },
    turn: async (owner, id, options = {}) => client.turn(await usable(owner, id), { ...options, ...limitsOf(options) }),
    reading: async (owner, id) => client.reading(await usable(owner, id)),
    conflictDetection: async (owner, id) => conflictDetectionReport(await authorised(owner, id)),
    changeFeed: async (owner, id) => changeFeedReport((await authorised(owner, id)).changeFeed),
    status: async (owner, id) => toStatus(await authorised(owner, id)),
    async detach(owner, id, options) {
      const row = await authorised(owner, id);
      if (row.state === "detached") return;
      await client.end(row, "detached");
      await client.detach(row, limitsOf(options));
    },
    markUnavailable: (owner, id) => mark(owner, id, "surface_unavailable"),
    markUnauthorized: (owner, id) => mark(owner, id, "attachment_unauthorized"),
    watch: async (owner, id) => client.watch(await usable(owner, id)),
    on: (name, listener) => events.on(name, listener),
    async close() {
      closed = true;
      await client.close();
    },
  };
  return humanPlus;
}

function assertAttached(row: AttachmentRow): AttachmentRow {
  switch (row.state) {
    case "attached":
      return row;
    case "detached":
      throw new HumanPlusError("attachment_detached", "this attachment was detached");
    case "surface_unavailable":
      throw new HumanPlusError(
        "surface_unavailable",
        "the surface of this attachment is gone; attach again with a new invitation",
        { outcome: "not_applied" },
      );
    case "attachment_unauthorized":
      throw new HumanPlusError(
        "attachment_unauthorized",
        "the relay no longer accepts this attachment; attach again with a new invitation",
      );
    default:
      return row.state satisfies never;
  }
}

function toStatus({
  id,
  state,
  generation,
  invitation,
  participant,
  conflictDetection,
  changeFeed,
  revision,
  refusedRevision,
}: AttachmentRow): AttachmentStatus {
  const { surfaceId, application } = invitation;
  const observed = revision ?? refusedRevision;
  const pin = observed && { ...observed, isRefused: revision === undefined };
  return { id, state, generation, surfaceId, application, participant, conflictDetection, changeFeed, pin };
}

function requireText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= 256) return value;
  throw invalidArgument(`${name} should be a text of 1 to 256 characters`);
}

function requireMarker(since: unknown): string | undefined {
  const isMarker = typeof since === "string" && since.trim() !== "" && since.length <= limits.revisionBytes;
  if (since === undefined || isMarker) return since as string | undefined;
  throw invalidArgument(`since should be a marker of the surface: a text of 1 to ${limits.revisionBytes} characters`);
}

function requireTimeout(value: number): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw invalidArgument("timeoutMs should be a positive number of milliseconds");
}
