import type { JsonObject } from "@human-plus/core";
import { byteLength, truncate } from "../bounded-json.ts";
import type { AgUiInterrupt } from "../events.ts";
import type { Projection } from "../projection.ts";
import { readInterrupts } from "./interrupt-list.ts";
import type { Limits } from "./limits.ts";
import type { PrismEventOf, PrismPendingDecision } from "./prism-events.ts";
import { verdictSchema } from "./verdict.ts";

const MAX_MESSAGE_BYTES = 2_048;

/** What a person is asked: names of tools and the reasons that the host gave. Arguments are not among it. */
export function interruptOf(
  { interruption }: PrismEventOf<"agent_suspended">,
  {
    id,
    expiresAt,
    maxBytes,
  }: { readonly id: string; readonly expiresAt: number | undefined; readonly maxBytes: number },
): AgUiInterrupt {
  const { kind, reason, toolCallId, pendingDecisions } = interruption;
  const interrupt = (pending: readonly object[]): AgUiInterrupt => ({
    id,
    reason: kind === "elicitation" ? "input_required" : toolCallId === undefined ? "confirmation" : "tool_call",
    message: truncate(reason === "" ? "The run waits for a decision" : reason, MAX_MESSAGE_BYTES),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    responseSchema: verdictSchema,
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(pending.length === 0
      ? {}
      : { metadata: { humanplus: { pendingDecisions: pending } } as unknown as JsonObject }),
  });
  // However many wait, all can be decided: what explains them goes first.
  const whole = interrupt(pendingDecisions.map((decision) => withoutUndefined(decision)));
  if (byteLength(JSON.stringify(whole)) <= maxBytes) return whole;
  return interrupt(
    pendingDecisions.map(({ approvalId, kind: what, toolCallId: call, toolName }) =>
      withoutUndefined({ approvalId, kind: what, toolCallId: call, toolName }),
    ),
  );
}

function withoutUndefined(decision: Partial<PrismPendingDecision>): object {
  return JSON.parse(JSON.stringify(decision)) as object;
}

/** The host's own interrupts, if it has a projection for them. Ours has to be among them, or nobody could resume. */
export async function projectInterrupts(
  event: PrismEventOf<"agent_suspended">,
  interrupt: AgUiInterrupt,
  { projection, limits }: { readonly projection: Projection; readonly limits: Limits },
): Promise<readonly AgUiInterrupt[]> {
  const given = await projection.interrupt?.(event, interrupt);
  if (given === undefined) return [interrupt];
  const interrupts = readInterrupts(given, limits);
  if (interrupts?.some(({ id }) => id === interrupt.id)) return interrupts;
  throw new Error(`projection.interrupt should give a list that holds ${interrupt.id}`);
}
