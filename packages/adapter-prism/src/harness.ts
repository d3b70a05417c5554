import { HumanPlusError, type JsonObject } from "@human-plus/core";
import { assertCount, assertOptions, type Checks, optional } from "./argument.ts";
import { utf8Bytes } from "./bounded-text.ts";
import { readableFailure } from "./call-failure.ts";
import type { HostJsonObject } from "./host.ts";
import { type LiveToolset, openLiveToolset } from "./live-toolset.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { type SurfaceToolsOptions, surfaceToolsChecks } from "./surface-tools.ts";
import { PROPOSED } from "./tool-result.ts";

export type { ApprovalPolicy } from "./approval.ts";
export type { EffectPolicy } from "./effect.ts";
export type { LiveToolset } from "./live-toolset.ts";
export type { Naming } from "./names.ts";
export type { SurfaceToolsOptions } from "./surface-tools.ts";
export type { ToolAddress } from "./tool-address.ts";

/** This host knows neither effects nor exclusive calls. */
export interface HarnessToolsetOptions extends Omit<SurfaceToolsOptions, "effect" | "exclusive"> {
  /** UTF-8 bytes of what `handle` gives. More is refused, never cut. @default 65_536 */
  maxResultBytes?: number | undefined;
}

/** What a host that can end a call hands to `handle` beside the arguments. */
export interface HandleOptions {
  signal?: AbortSignal | undefined;
}

/** A tool of the other family's harness. */
export interface HarnessTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: HostJsonObject;
  /** Names of parameters that have to be given: the schema's own list. */
  readonly required: readonly string[];
  /** A person has to allow each call, says `approval`. The harness asks; `handle` does not. */
  readonly requiresApproval: boolean;
  /**
   * Gives what the model reads: the surface's words in their frame, then notices.
   *
   * @throws HumanPlusError for every call that failed or was refused; its message is for the model, and says what became of the call
   */
  handle(args?: JsonObject, options?: HandleOptions): Promise<string>;
}

/** A surface's tools for the other family's harness. */
export type HarnessToolset = LiveToolset<HarnessTool>;

/**
 * Lists the tools of an attached surface and gives them the shape of the other family's harness.
 *
 * @throws HumanPlusError `invalid_argument` for an option, `catalogue_refused` where names collide, and what `HumanPlus.tools` throws
 */
export async function createHarnessToolset(options: HarnessToolsetOptions): Promise<HarnessToolset> {
  assertOptions("createHarnessToolset", options, checks);
  const { maxResultBytes = 65_536 } = options;
  return openLiveToolset(options, (tool) => toHarnessTool(tool, maxResultBytes));
}

const { effect: _, exclusive: __, ...sharedChecks } = surfaceToolsChecks;
const checks: Checks<HarnessToolsetOptions> = { ...sharedChecks, maxResultBytes: optional(assertCount) };

function toHarnessTool(tool: OfferedTool, maxResultBytes: number): HarnessTool {
  const { name, description, parameters, needsApproval } = tool;
  const { required = [] } = parameters;
  return Object.freeze<HarnessTool>({
    name,
    description,
    parameters,
    required: Object.freeze([...(required as string[])]),
    requiresApproval: needsApproval,
    async handle(args = {}, { signal } = {}) {
      try {
        const { text, notices, isProposal } = await tool.run(args, { signal });
        const lines = [...(isProposal ? [PROPOSED] : []), text, ...notices];
        return bounded(lines.join("\n"), name, maxResultBytes);
      } catch (error) {
        throw readableFailure(error);
      }
    },
  });
}

function bounded(text: string, name: string, maxBytes: number): string {
  if (utf8Bytes(text) <= maxBytes) return text;
  const message = `the result of ${name} has more than ${maxBytes} bytes and was not handed on; ask the surface for less`;
  throw new HumanPlusError("result_refused", message, { outcome: "applied" });
}
