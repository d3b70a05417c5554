import type { HumanPlus, Turn, TurnOptions } from "@human-plus/core";
import {
  assertCount,
  assertFlag,
  assertFunction,
  assertOptions,
  assertWord,
  attachmentChecks,
  type Checks,
  operationChecks,
  optional,
  requireHandles,
} from "./argument.ts";
import { boundText } from "./bounded-text.ts";
import type { HostMessage } from "./host.ts";
import { plainText } from "./plain-text.ts";

export interface SurfaceTurnOptions extends TurnOptions {
  humanPlus: HumanPlus;
  /** Presented with every operation. */
  owner: string;
  /** Of `humanPlus.attach(...)`. */
  attachmentId: string;
  /** Who says it to the model. Some providers take no system message after the first. @default "user" */
  role?: "user" | "system" | undefined;
  /** UTF-8 bytes of the text. Longer lists of changes are shortened, and say so. @default 16_384 */
  maxTextBytes?: number | undefined;
}

/** What a run begins with. It ends with `end()`, with the next turn of the attachment, or with a `using` block. */
export interface SurfaceTurn extends Turn {
  /** To be put before the run's own messages: one, or none when there is nothing to say. */
  readonly messages: HostMessage[];
}

/**
 * Begins a turn at the start of a run of the host: what people changed since this agent last read the surface, and what to
 * leave alone. `text` is the same for a system prompt of the host's own making; it is empty when nothing changed, and that
 * is known. A surface that cannot tell is said to be one that cannot.
 *
 * @throws HumanPlusError `invalid_argument` for an option, and what `HumanPlus.turn` throws
 */
export async function surfaceTurn(options: SurfaceTurnOptions): Promise<SurfaceTurn> {
  assertOptions("surfaceTurn", options, checks);
  const { humanPlus, owner, attachmentId, role = "user", maxTextBytes = 16_384, handlesOf, ...turnOptions } = options;
  const turn = await humanPlus.turn(owner, attachmentId, {
    ...turnOptions,
    handlesOf: handlesOf && ((tool, args) => requireHandles("handlesOf(...)", handlesOf(tool, args))),
  });
  const text = boundText(plainText(turn.text), maxTextBytes);
  return { ...turn, text, messages: text === "" ? [] : [surfaceMessage(role, text, "turn")] };
}

const checks: Checks<SurfaceTurnOptions> = {
  ...attachmentChecks,
  ...operationChecks,
  protect: optional(assertFlag),
  handlesOf: optional(assertFunction),
  role: optional(assertWord("user", "system")),
  maxTextBytes: optional(assertCount),
};

/** A message of this package, which a host can tell from those of people by its metadata. */
export function surfaceMessage(role: HostMessage["role"], text: string, about: string): HostMessage {
  return { role, content: [{ type: "text", text }], metadata: { humanplus: { about } } };
}
