import type {
  AttachmentRow,
  ConflictDetectionEvidence,
  ConflictDetectionState,
  Observation,
  ObservedRevision,
} from "./attachment.ts";
import { HumanPlusError } from "./error.ts";
import { limits } from "./gen/constants.ts";
import { safeParseChangeFeed, safeParseRevisionReading } from "./gen/parsers.ts";
import type { ChangeRow, JsonObject, RpcError } from "./gen/types.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";

/** The marker a result carried, and what follows for the attachment. PROTOCOL.md section 5. */
export interface RevisionObservation {
  readonly revision: ObservedRevision | undefined;
  readonly conflictDetection: ConflictDetectionState;
  readonly evidence: ConflictDetectionEvidence;
  readonly notices: readonly string[];
}

export function observeRevision(
  row: AttachmentRow,
  result: JsonObject,
  tool: string,
  observedAt: number,
): RevisionObservation {
  const parsed = safeParseRevisionReading(result);
  const marker = parsed.ok ? parsed.value.revision : undefined;
  if (marker !== undefined) {
    const conflictDetection = row.conflictDetection === "enforced" ? "enforced" : "minted";
    const evidence = { ...row.evidence, minted: row.evidence.minted ?? { tool, observedAt } };
    return { revision: { marker, tool, observedAt }, conflictDetection, evidence, notices: [] };
  }
  const notices: string[] = [];
  if (parsed.ok && parsed.notices.length > 0) {
    notices.push(
      `The surface's revision marker has more than ${limits.revisionBytes} bytes and was not kept, so the next call is not pinned to this result.`,
    );
  }
  // Once a surface has minted, one result without a marker does not take that back.
  const conflictDetection = row.conflictDetection === "not_observed" ? "unavailable" : row.conflictDetection;
  return {
    revision: undefined,
    conflictDetection,
    evidence: { ...row.evidence, unminted: { tool, observedAt } },
    notices,
  };
}

/** @throws HumanPlusError `conflict_detection_unavailable` when a revision is required and the surface is known to mint none */
export function assertRevisionAvailable({ requireRevision, conflictDetection }: AttachmentRow): void {
  if (!requireRevision || conflictDetection !== "unavailable") return;
  const message =
    "this surface mints no revisions, so it cannot tell whether a call would overwrite somebody's work; calls that require a revision are refused";
  throw new HumanPlusError("conflict_detection_unavailable", message);
}

const KIND_WORDS = {
  created: "created",
  updated: "updated",
  deleted: "deleted",
  moved: "moved",
  unknown: "changed",
} as const;
const ACTOR_WORDS = { human: "a person", agent: "this agent", other: "another party", unknown: "somebody" } as const;

/** One line of a change, for a model: words of ours but for the handle and the label. */
export function describeChange({ handle, kind, actor, label }: ChangeRow): string {
  const name = label === undefined ? JSON.stringify(handle) : `${JSON.stringify(handle)} (${JSON.stringify(label)})`;
  return `${name}: ${KIND_WORDS[kind]} by ${ACTOR_WORDS[actor]}`;
}

const MAX_ROWS_IN_MESSAGE = 20;

/** A marker is the surface's text. One that could be a sentence is framed as such. */
const PLAIN_MARKER = /^[\w.:+/=-]{1,64}$/;

/** The refusal as a model in mid-turn has to read it: what it worked from, that nothing was written, and what not to do. */
export function surfaceChangedError(
  pin: ObservedRevision | undefined,
  source: TextSource,
  guard: ResultGuard,
  refusal?: RpcError,
): HumanPlusError {
  const changes = refusal?.data === undefined ? [] : readChanges(refusal.data);
  const isPlain = pin === undefined || PLAIN_MARKER.test(pin.marker);
  const basis =
    pin === undefined
      ? "It was pinned to no revision."
      : `It was pinned to ${isPlain ? `revision ${JSON.stringify(pin.marker)}` : "the revision below"}, observed by ${pin.tool} at ${new Date(pin.observedAt).toISOString()}.`;
  const lines = [
    `The surface changed under you: ${source.tool} was refused. ${basis}`,
    "Nothing was written. Do not repeat this call as it is: read the surface or ask what changed first, then decide again.",
  ];
  if (!isPlain) lines.push("The revision, in the surface's words:", guard.excerpt(pin.marker, source, 512));
  if (changes.length > 0) {
    const rows = changes.slice(0, MAX_ROWS_IN_MESSAGE).map(describeChange);
    if (changes.length > rows.length) rows.push(`and ${changes.length - rows.length} more`);
    lines.push("What changed since, in the surface's words:", guard.excerpt(rows.join("\n"), source, 4096));
  }
  const surface = refusal === undefined ? undefined : { code: refusal.code.slice(0, 64), changes };
  return new HumanPlusError("surface_changed_under_you", lines.join("\n"), { surface });
}

function readChanges(data: unknown): readonly ChangeRow[] {
  const parsed = safeParseChangeFeed(data);
  return parsed.ok ? parsed.value.changes : [];
}

/** What is known of a surface's conflict detection. */
export interface ConflictDetectionReport {
  readonly state: ConflictDetectionState;
  readonly evidence: ConflictDetectionEvidence;
  /** What is known and from where, and what is not known, in a sentence or two. */
  describe(): string;
}

export function conflictDetectionReport({
  conflictDetection: state,
  evidence,
}: AttachmentRow): ConflictDetectionReport {
  return { state, evidence, describe: () => describeConflictDetection(state, evidence) };
}

function describeConflictDetection(
  state: ConflictDetectionState,
  { unminted, minted, refused }: ConflictDetectionEvidence,
): string {
  switch (state) {
    case "not_observed":
      return "The surface has not answered a call yet: whether it detects conflicting writes is not known.";
    case "unavailable":
      return `The surface minted no revision when it answered${seenIn(unminted)}: it cannot tell whether a write overwrites somebody's work, and neither can this agent.`;
    case "minted":
      return `The surface mints revisions${seenIn(minted)}, and calls are pinned to them. It has not refused a stale one yet: whether it enforces them is not known.`;
    case "enforced":
      return `The surface refused a call that was pinned to a stale revision${seenIn(refused)}: it enforces them.`;
    default:
      return state satisfies never;
  }
}

function seenIn(observation: Observation | undefined): string {
  return observation === undefined ? "" : ` (${observation.tool}, ${new Date(observation.observedAt).toISOString()})`;
}
