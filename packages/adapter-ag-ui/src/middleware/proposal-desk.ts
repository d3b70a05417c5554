import type { JsonObject } from "@human-plus/core";
import { type AgUiInterrupt, type AgUiResumeEntry, agUiNames } from "../events.ts";
import type { ProposalStanding } from "../feed/occurrence.ts";
import type { CallIdentity } from "./thread-memory.ts";
import { withTimeout } from "./timeout.ts";

/** How a proposal ended. */
export type ProposalEnd = Exclude<ProposalStanding, "proposed">;

/** What a person answered to the interrupt of a proposal. */
export interface ProposalDecision {
  readonly proposalId: string;
  readonly tool: string;
  readonly threadId: string;
  /** False also for what was cancelled, edited, or is no answer to the question. */
  readonly approved: boolean;
  /** The person's words, of at most 1,024 characters. */
  readonly reason: string | undefined;
  /** Aborts with the run. */
  readonly signal: AbortSignal;
}

export interface ProposalOptions {
  /**
   * Carries a person's decision to where it is made: the application that owns the surface, which alone can accept. It is
   * called at most once for each proposal. What it gives is how the proposal ended; without that, the surface's news is
   * waited for. Leave it out where people decide at the surface itself. @default not carried anywhere
   */
  decide?: ((decision: ProposalDecision) => Promise<ProposalEnd | undefined>) | undefined;
  /** What the interrupt says to a person: its message. @default words of ours without anything of the call */
  message?:
    | ((proposal: { readonly tool: string; readonly args: JsonObject; readonly resultText: string }) => string)
    | undefined;
  /** How long a resumed run waits to hear how a proposal ended, in milliseconds: 0 to 60,000. @default 5_000 */
  settleTimeoutMs?: number | undefined;
}

/** A proposal that its thread waits for. */
export interface PendingProposal {
  readonly interrupt: AgUiInterrupt;
  readonly proposalId: string;
  /** The call that proposed, as the run streamed it. */
  readonly call: CallIdentity;
  readonly tool: string;
  /** What the tool answered when it proposed. */
  readonly resultText: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
  ended: { readonly state: ProposalEnd; readonly reason: string | undefined } | undefined;
  /** Called when it ends. */
  onEnd: (() => void) | undefined;
  /** Lets go of the connection over which the news comes. */
  release: () => void;
}

/** Two answers and a reason: nothing of the call can be edited. */
const responseSchema: JsonObject = {
  type: "object",
  properties: {
    approved: { type: "boolean", description: "Whether the proposal is accepted." },
    reason: { type: "string", maxLength: 1_024, description: "Why, for the agent." },
  },
  required: ["approved"],
  additionalProperties: false,
};

export interface Answer {
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/** Reads a payload by `responseSchema`. Anything else, edits included, is `undefined`. */
export function readAnswer(payload: unknown): Answer | undefined {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const { approved, reason, ...others } = payload as Record<string, unknown>;
  if (typeof approved !== "boolean" || Object.keys(others).length > 0) return undefined;
  if (reason !== undefined && (typeof reason !== "string" || reason.length > 1_024)) return undefined;
  return { approved, reason };
}

/** The interrupt that a proposal raises. Its expiry is no member of its own before 1.0.0, where an expired one blocks the thread for good. */
export function toInterrupt(
  {
    id,
    toolCallId,
    proposalId,
    message,
    expiresAt,
  }: {
    id: string;
    toolCallId: string;
    proposalId: string;
    message: string;
    expiresAt: number | undefined;
  },
  peerIsNew: boolean,
): AgUiInterrupt {
  const expiry = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  return {
    id,
    reason: `${agUiNames.reason}proposal`,
    message,
    toolCallId,
    responseSchema,
    ...(expiry !== undefined && peerIsNew ? { expiresAt: expiry } : {}),
    metadata: { [agUiNames.key]: { proposalId, ...(expiry === undefined ? {} : { expiresAt: expiry }) } },
  };
}

/** What the model reads when the answer is known. */
export function settledText(pending: PendingProposal, how: string): string {
  return `${how}\nWhat the tool had answered when it proposed:\n${pending.resultText}`;
}

const endWords: Readonly<Record<ProposalEnd, string>> = {
  accepted: "A person accepted the proposal, and it was written.",
  rejected: "A person rejected the proposal. Nothing was written. Do not propose the same again unasked.",
  expired: "Nobody decided about the proposal in time. Nothing was written.",
  stale:
    "A person accepted the proposal, but what it touches had changed since. Nothing was written. Read the surface before you propose again.",
};

const unheard = {
  open: "Nothing was written yet: a person at the surface still has to decide about the proposal. Go on without it.",
  approved:
    "A person answered that the proposal is accepted, but the surface has not said so. Whether it was written is not known: read the surface.",
  denied:
    "The proposal was not accepted here. Nothing was written as far as is known; it may still wait at the surface.",
  expired:
    "The time to decide about the proposal is over, and the surface has not said how it ended. Read the surface.",
  undelivered:
    "A person answered, but the answer could not be delivered. Whether anything was written is not known: read the surface.",
} as const;

export interface SettleOptions {
  readonly threadId: string;
  readonly options: ProposalOptions;
  readonly settleTimeoutMs: number;
  /** How long `decide` may take. */
  readonly decideTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** How a proposal stands after a person's answer, in words. It was taken off the desk before, so nothing here happens twice. */
export async function settle(
  pending: PendingProposal,
  entry: AgUiResumeEntry | undefined,
  { threadId, options, settleTimeoutMs, decideTimeoutMs, signal, now, onError }: SettleOptions,
): Promise<string> {
  const { proposalId, tool, expiresAt } = pending;
  if (pending.ended !== undefined) return endText(pending.ended);
  if (expiresAt !== undefined && now() >= expiresAt) return unheard.expired;
  if (entry === undefined) return unheard.open;
  const answer = entry.status === "resolved" ? readAnswer(entry.payload) : undefined;
  const { approved, reason } = answer ?? { approved: false, reason: undefined };
  let delivered = true;
  try {
    const deciding = Promise.resolve(options.decide?.({ proposalId, tool, threadId, approved, reason, signal }));
    const state = await withTimeout(deciding, {
      what: "carrying a decision",
      timeoutMs: decideTimeoutMs,
      signal,
      outcome: "unknown",
    });
    if (isEnd(state)) return endText(pending.ended ?? { state, reason: undefined });
  } catch (error) {
    onError(error);
    delivered = false;
  }
  await newsOf(pending, settleTimeoutMs, signal);
  if (pending.ended !== undefined) return endText(pending.ended);
  if (!delivered) return unheard.undelivered;
  return approved ? unheard.approved : unheard.denied;
}

function isEnd(state: ProposalEnd | undefined): state is ProposalEnd {
  return state !== undefined && Object.hasOwn(endWords, state);
}

function endText({ state, reason }: { state: ProposalEnd; reason: string | undefined }): string {
  return reason === undefined ? endWords[state] : `${endWords[state]}\nThe person's reason:\n${reason}`;
}

/** Resolves when it ended, when the time is over, or when the run was given up. */
function newsOf(pending: PendingProposal, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      pending.onEnd = undefined;
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    pending.onEnd = done;
    signal.addEventListener("abort", done);
    if (signal.aborted || pending.ended !== undefined) done();
  });
}
