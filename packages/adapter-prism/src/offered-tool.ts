import { type CallResult, type HumanPlus, HumanPlusError, type JsonObject } from "@human-plus/core";
import type { CallGate } from "./call-gate.ts";
import type { HostJsonObject, ToolEffectDeclaration } from "./host.ts";
import { isPlainText, plainText } from "./plain-text.ts";
import type { ToolAddress } from "./tool-address.ts";
import type { Answer, ToolCallOptions } from "./tool-call.ts";

/** A tool before it takes the shape of one of the hosts. */
export interface OfferedTool {
  /** The host's name of it. */
  readonly name: string;
  readonly address: ToolAddress;
  readonly description: string;
  readonly parameters: HostJsonObject;
  readonly effect: ToolEffectDeclaration;
  readonly isExclusive: boolean;
  readonly needsApproval: boolean;
  /** @throws HumanPlusError that says what became of the call */
  run(args: JsonObject, options: ToolCallOptions): Promise<Answer>;
}

export interface SurfaceCallOptions {
  humanPlus: HumanPlus;
  owner: string;
  attachmentId: string;
  gate: CallGate;
  address: ToolAddress;
  /** What the model was shown; nothing where a tool that is defined otherwise by now may be called. */
  digest: string | undefined;
  timeoutMs: number;
  yieldToPerson: boolean;
  /** Hears that a definition is not what it was. */
  onRedefined: (signal: AbortSignal) => Promise<void>;
}

/** Calls of one tool of a surface. */
export function surfaceCall(options: SurfaceCallOptions): OfferedTool["run"] {
  const { humanPlus, owner, attachmentId, gate, address, digest, timeoutMs, yieldToPerson, onRedefined } = options;
  return (args, { signal, onProgress, reading }) =>
    gate.run(async (ending) => {
      try {
        const call = { signal: ending, timeoutMs, yieldToPerson, onProgress, digest, reading };
        return toAnswer(await humanPlus.call(owner, attachmentId, address.tool, args, call), address);
      } catch (error) {
        if (error instanceof HumanPlusError && error.code === "tool_definition_changed") await onRedefined(ending);
        throw error;
      }
    }, signal);
}

function toAnswer({ text, parts, isError, revision, proposal, notices }: CallResult, address: ToolAddress): Answer {
  if (isError) {
    const message = `the surface says that ${address.tool} failed; a part of it may have been written\n${text}`;
    throw new HumanPlusError("surface_error", message, { outcome: "unknown" });
  }
  const unseen = parts.filter(({ type }) => type === "image" || type === "audio").length;
  const more = unseen === 0 ? [] : [`${unseen} part(s) of this result are no text and were left out.`];
  return {
    text: plainText(text),
    notices: [...notices, ...more],
    isProposal: proposal !== undefined,
    facts: {
      surfaceId: address.surfaceId,
      tool: address.tool,
      outcome: "applied",
      ...(revision === undefined || !isPlainText(revision) ? {} : { revision }),
      ...(proposal === undefined ? {} : { proposal: { id: proposal.id, state: proposal.state } }),
    },
  };
}
