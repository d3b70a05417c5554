import { type HumanPlus, HumanPlusError, type JsonObject } from "@human-plus/core";
import type { CallGate } from "./call-gate.ts";
import { defaultEffect } from "./effect.ts";
import type { HostJsonObject } from "./host.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { plainText } from "./plain-text.ts";

export interface BuiltinToolsOptions {
  humanPlus: HumanPlus;
  owner: string;
  attachmentId: string;
  gate: CallGate;
  surfaceId: string;
  prefix: string;
  timeoutMs: number;
  changes: boolean;
  announce: boolean;
}

/** Tools of this package beside the surface's own: their words are ours, and so are their names. */
export function builtinTools({ changes, announce, ...options }: BuiltinToolsOptions): readonly OfferedTool[] {
  return [...(announce ? [announceTool(options)] : []), ...(changes ? [changesTool(options)] : [])];
}

type ToolOptions = Omit<BuiltinToolsOptions, "changes" | "announce">;

function changesTool({ humanPlus, owner, attachmentId, gate, surfaceId, prefix, timeoutMs }: ToolOptions): OfferedTool {
  return {
    name: `${prefix}changes`,
    address: { surfaceId, tool: "changes" },
    description:
      "Tells what changed on the live surface since you last read it, and by whose hand. Ask when a call was refused because the surface changed, and before you write after a pause.",
    parameters: { additionalProperties: false, properties: {}, type: "object" },
    effect: { kind: "none", idempotency: "none" },
    isExclusive: false,
    needsApproval: false,
    run: (_, { signal, reading }) =>
      gate.run(async (ending) => {
        const report = await humanPlus.changesSince(owner, attachmentId, { signal: ending, timeoutMs, reading });
        const { answered, complete, nothingChanged, changes, deferTo } = report;
        const notices = deferTo.length === 0 ? [] : ["Leave alone what others changed, unless a person asks you to."];
        const counts = { changed: changes.length, deferTo: deferTo.length };
        return {
          text: plainText(report.describe()),
          notices,
          isProposal: false,
          facts: { surfaceId, outcome: "applied", answered, complete, nothingChanged, ...counts },
        };
      }, signal),
  };
}

const PRIORITIES = ["background", "normal", "attention"] as const;

const announceParameters: HostJsonObject = {
  additionalProperties: false,
  properties: {
    action: { description: "What you are doing, in plain words.", maxLength: 256, minLength: 1, type: "string" },
    priority: { description: "How much attention it asks for.", enum: [...PRIORITIES], type: "string" },
    target: { description: "The handle that you work on.", maxLength: 256, minLength: 1, type: "string" },
  },
  required: ["action"],
  type: "object",
};

function announceTool({ humanPlus, owner, attachmentId, gate, surfaceId, prefix }: ToolOptions): OfferedTool {
  return {
    name: `${prefix}announce`,
    address: { surfaceId, tool: "announce" },
    description:
      "Shows the people at the live surface what you are doing, before you do it. Changes nothing; nobody answers.",
    parameters: structuredClone(announceParameters),
    effect: defaultEffect,
    isExclusive: false,
    needsApproval: false,
    run: ({ action, target, priority = "normal" }, { signal }) =>
      gate.run(async () => {
        assertText("action", action);
        if (target !== undefined) assertText("target", target);
        const known = PRIORITIES.find((name) => name === priority);
        if (known === undefined) throw invalid(`priority should be one of ${PRIORITIES.join(", ")}`);
        await humanPlus.announce(owner, attachmentId, { action, target, priority: known });
        const text = "The people at the surface are told.";
        return { text, notices: [], isProposal: false, facts: { surfaceId, outcome: "applied" } };
      }, signal),
  };
}

function assertText(name: string, value: JsonObject[string]): asserts value is string {
  if (typeof value !== "string" || value.trim() === "" || value.length > 256)
    throw invalid(`${name} should be a text of 1 to 256 characters`);
}

function invalid(message: string): HumanPlusError {
  return new HumanPlusError("invalid_argument", message);
}
