import type { SurfaceSession } from "@human-plus/core";
import { plainText } from "../plain-text.ts";
import { interruptPrefix } from "./own-material.ts";
import { type PendingProposal, toInterrupt } from "./proposal-desk.ts";
import type { SurfaceSettings } from "./settings.ts";
import type { CallOutcome } from "./surface-calls.ts";
import type { CallIdentity, ThreadMemory } from "./thread-memory.ts";

export interface ProposedCall {
  readonly call: CallIdentity;
  readonly tool: string;
  readonly text: string;
  readonly proposal: NonNullable<CallOutcome["proposal"]>;
}

export interface IntakeOptions {
  readonly session: SurfaceSession;
  readonly memory: ThreadMemory;
  readonly settings: SurfaceSettings;
  /** The peer said `protocolVersion`. */
  readonly peerIsNew: boolean;
  readonly onError: (error: unknown) => void;
}

const MAX_HOLD_MS = 3_600_000;
/** A year. What a surface says may be too long for any calendar. */
const MAX_EXPIRY_MS = 31_536_000_000;

/** Puts a proposal on its thread's desk: the call stays unanswered until a person decides, and the news is listened for. */
export async function takeProposal(
  { call, tool, text, proposal: { receipt, args } }: ProposedCall,
  { session, memory, settings, peerIsNew, onError }: IntakeOptions,
): Promise<PendingProposal> {
  const { name, now, randomId, proposals } = settings;
  const { id: proposalId, expiresInMs } = receipt;
  const expiresAt = expiresInMs === undefined ? undefined : now() + Math.min(expiresInMs, MAX_EXPIRY_MS);
  const id = `${interruptPrefix(name)}${randomId()}`;
  const message = messageOf(() => proposals?.message?.({ tool, args, resultText: text }));
  const pending: PendingProposal = {
    interrupt: toInterrupt({ id, toolCallId: call.id, proposalId, message, expiresAt }, peerIsNew),
    proposalId,
    call,
    tool,
    resultText: text,
    expiresAt,
    ended: undefined,
    onEnd: undefined,
    release: () => undefined,
  };
  // On the desk before anything is awaited: its end may come at once.
  let isReleased = false;
  pending.release = () => {
    isReleased = true;
  };
  memory.wait(pending);
  try {
    const release = await session.watch();
    // Nobody waits for it any more.
    if (isReleased) {
      release();
      return pending;
    }
    const timer = setTimeout(release, Math.min(expiresInMs ?? MAX_HOLD_MS, MAX_HOLD_MS) + 5_000);
    (timer as { unref?: () => void }).unref?.();
    pending.release = () => {
      clearTimeout(timer);
      release();
    };
  } catch (error) {
    onError(error);
  }
  return pending;
}

function messageOf(say: () => string | undefined): string {
  const ours = "The agent proposes a change. A person has to accept or reject it.";
  try {
    const said: unknown = say();
    if (said instanceof Promise) said.catch(() => undefined);
    return typeof said === "string" ? plainText(said) : ours;
  } catch {
    return ours;
  }
}
