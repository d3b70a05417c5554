import type { RunAgentInput } from "@ag-ui/client";
import type { AgUiResumeEntry } from "../events.ts";
import { type OwnMaterial, takeLegacyAnswer } from "./own-material.ts";
import { type PendingProposal, settle, settledText } from "./proposal-desk.ts";
import type { SurfaceSettings } from "./settings.ts";
import type { ThreadMemory } from "./thread-memory.ts";

export interface Resumed {
  /** The input to go on with. */
  readonly input: RunAgentInput;
  /** Proposals that nobody answered: the run waits for them again. */
  readonly open: readonly PendingProposal[];
}

/**
 * Settles what a person answered, and what ended meanwhile. What is settled is remembered as the answer to its call; the
 * history of the run tells where it is missing.
 */
export async function resumeProposals(
  { input, resume, resumesOthers }: OwnMaterial,
  memory: ThreadMemory,
  settings: SurfaceSettings,
  { signal, onError }: { signal: AbortSignal; onError: (error: unknown) => void },
): Promise<Resumed> {
  const { proposals: options = {}, settleTimeoutMs, callTimeoutMs: decideTimeoutMs, now } = settings;
  const waiting = [...memory.pending.values()];
  const entries = new Map<string, AgUiResumeEntry>(resume.map((entry) => [entry.interruptId, entry]));
  const [only] = waiting;
  const legacy =
    resume.length === 0 && waiting.length === 1 && only !== undefined
      ? takeLegacyAnswer(input, only.interrupt.id)
      : undefined;
  if (legacy !== undefined) entries.set(legacy.entry.interruptId, legacy.entry);

  const open: PendingProposal[] = [];
  const settled: PendingProposal[] = [];
  for (const pending of waiting) {
    const isKnown = pending.ended !== undefined || (pending.expiresAt ?? Number.POSITIVE_INFINITY) <= now();
    // Somebody else's agent goes on with this run, so ours cannot hold it.
    if (isKnown || entries.has(pending.interrupt.id) || resumesOthers) settled.push(pending);
    else open.push(pending);
  }
  // Off the desk before anything is awaited: a second resume at the same time finds nothing to do.
  for (const { interrupt } of settled) memory.pending.delete(interrupt.id);
  const threadId = input.threadId;
  for (const pending of settled) {
    const entry = entries.get(pending.interrupt.id);
    const how = await settle(pending, entry, {
      threadId,
      options,
      settleTimeoutMs,
      decideTimeoutMs,
      signal,
      now,
      onError,
    });
    memory.settled(pending, settledText(pending, how));
  }
  return { input: legacy?.input ?? input, open };
}
