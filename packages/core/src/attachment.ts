import type { Invitation } from "./invitation.ts";
import type { Participant } from "./participant.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** `attached` is the only state in which calls are made. `surface_unavailable` and `attachment_unauthorized` end with a new `attach`. */
export type AttachmentState = "attached" | "surface_unavailable" | "attachment_unauthorized" | "detached";

/**
 * What is known of a surface's conflict detection:
 * `not_observed`: it has not answered yet · `unavailable`: it answered and minted no revision ·
 * `minted`: pins are sent, enforcement was not seen · `enforced`: it refused a stale pin, and that stays known.
 */
export type ConflictDetectionState = "not_observed" | "unavailable" | "minted" | "enforced";

/**
 * What is known of a surface's change feed:
 * `not_observed`: its tools were not listed yet · `unavailable`: none of its tools is a feed ·
 * `offered`: there is one · `attributed`: it named a person or another party, and that stays known.
 */
export type ChangeFeedState = "not_observed" | "unavailable" | "offered" | "attributed";

/** The tool whose answer showed something, and when, in milliseconds since the epoch. */
export interface Observation {
  readonly tool: string;
  readonly observedAt: number;
}

/** A marker and the call that gave it. */
export interface ObservedRevision extends Observation {
  readonly marker: string;
}

/** What is known of a surface's conflict detection, and from where. */
export interface ConflictDetectionEvidence {
  /** The last answer without a revision. */
  readonly unminted?: Observation | undefined;
  /** The first answer that carried a revision. */
  readonly minted?: Observation | undefined;
  /** The first refusal of a stale pin. */
  readonly refused?: Observation | undefined;
}

/** Everything that is kept of one attachment. It holds a live token: a store at rest must seal it. */
export interface AttachmentRow {
  readonly id: string;
  /** Whoever may use it. Every operation presents it again. */
  readonly owner: string;
  /** Grows with each `attach` under the same id, and when the attachment ends. Recording a revision leaves it alone. */
  readonly generation: number;
  /** Minted by each `attach`. Numbers of generations begin anew where a row was forgotten; this tells them apart for ever. */
  readonly attachKey: string;
  readonly state: AttachmentState;
  readonly invitation: Invitation;
  readonly participant: Participant;
  /** Names this agent to the relay: its participant's id, to which a transport adds what makes it unique. */
  readonly client: string;
  readonly trust: TrustPolicy;
  readonly requireRevision: boolean;
  readonly discovery: Discovery;
  /** What calls are pinned to. Dropped when the surface refused it as stale. */
  readonly revision: ObservedRevision | undefined;
  /** What the surface refused as stale, until a result gives the next revision. */
  readonly refusedRevision?: ObservedRevision | undefined;
  /**
   * Where the change feed is asked from: the last marker that was read, stale or not. After a refusal it stays until the
   * feed has answered, because what is read then need not show what the refused call had missed.
   */
  readonly lastRead: ObservedRevision | undefined;
  readonly conflictDetection: ConflictDetectionState;
  readonly evidence: ConflictDetectionEvidence;
  readonly changeFeed: ChangeFeedState;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `cached`: tools are listed again after `list_changed`, 30 seconds, or a new generation. `every-call`: before each call. */
export type Discovery = "cached" | "every-call";
