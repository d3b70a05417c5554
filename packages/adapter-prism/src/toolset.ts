import type { HumanPlusError, OperationOptions, ToolPins } from "@human-plus/core";
import { type ApprovalQuestion, approvalRequest } from "./approval.ts";
import { assertCount, assertType } from "./argument.ts";
import { isManaged } from "./effect.ts";
import type { ToolDefinition, ToolRegistry } from "./host.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { createProgressRelay } from "./progress.ts";
import { createSurfaceRegistry } from "./registry.ts";
import { openSurfaceTools, type SurfaceToolsOptions } from "./surface-tools.ts";
import { failedResult, toolResult } from "./tool-result.ts";

export interface SurfaceToolsetOptions extends SurfaceToolsOptions {
  /** What a person reads where `approval` asks for one; at most 2 KiB. @default tool, surface and arguments */
  question?: ApprovalQuestion | undefined;
  /** Put the text of a result into `content` as well, for hosts that show it. The AI-SDK provider fails on it. @default false */
  content?: boolean | undefined;
  /** UTF-8 bytes of one whole result as JSON; effect records keep 65,536. A larger one is refused, never cut. @default 65_536 */
  maxResultBytes?: number | undefined;
}

/** A surface's tools for a Prism agent. They fit wherever the host takes a bridge with `tools`, `refresh` and `close`. */
export interface SurfaceToolset extends AsyncDisposable {
  /** As last listed, by name. A failed refresh leaves the same array. */
  readonly tools: readonly ToolDefinition[];
  /** The surface's name of each tool, by the host's name. Tools of this package are not in it. */
  readonly names: ReadonlyMap<string, string>;
  /** Digests of the surface's own definitions, by its names of the tools: pins for `TrustPolicy`. */
  readonly pins: ToolPins;
  /** The surface said that its tools changed, or a call or a refresh found it out: `refresh` before the next run. */
  readonly stale: boolean;
  /** A definition differs from its pin: every call is refused with this until a refresh finds it as pinned again. */
  readonly disabled: HumanPlusError | undefined;
  /**
   * Lists the tools again, all or nothing.
   *
   * @throws HumanPlusError `closed`, and what `createSurfaceToolset` throws
   */
  refresh(options?: OperationOptions): Promise<void>;
  /** A registry for one agent: each run sees the tools as they were at its start. */
  registry(): ToolRegistry;
  /** Ends calls that run, and refuses others with `closed`. The attachment stays; closing twice does no harm. */
  close(): Promise<void>;
}

/**
 * Lists the tools of an attached surface and gives them the host's shape.
 *
 * @throws HumanPlusError `invalid_argument` for an option, `catalogue_refused` where names collide, and what `HumanPlus.tools` throws
 */
export async function createSurfaceToolset(options: SurfaceToolsetOptions): Promise<SurfaceToolset> {
  assertCount("maxResultBytes", options.maxResultBytes);
  assertType("question", options.question, "function");
  assertType("content", options.content, "boolean");
  const surfaceTools = await openSurfaceTools(options);
  const convert = () => Object.freeze(surfaceTools.offered.map((tool) => toHostTool(tool, options)));
  let tools = convert();
  const close = () => surfaceTools.close();
  return {
    get tools() {
      return tools;
    },
    get names() {
      return surfaceTools.names;
    },
    get pins() {
      return surfaceTools.pins;
    },
    get stale() {
      return surfaceTools.isStale;
    },
    get disabled() {
      return surfaceTools.disabled;
    },
    async refresh(operation) {
      await surfaceTools.refresh(operation);
      tools = convert();
    },
    registry: () => createSurfaceRegistry(() => tools),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type ResultOptions = Pick<SurfaceToolsetOptions, "question" | "content" | "maxResultBytes">;

function toHostTool(tool: OfferedTool, options: ResultOptions): ToolDefinition {
  const { question, content = false, maxResultBytes = 65_536 } = options;
  const { name, description, parameters, effect, isExclusive, needsApproval, address } = tool;
  return Object.freeze<ToolDefinition>({
    name,
    description,
    parameters,
    exclusive: isExclusive,
    effect,
    ...(needsApproval ? { elicitation: (args) => approvalRequest(address, args, question) } : {}),
    async execute(args, context) {
      const { signal, toolCallId, idempotencyKey } = context;
      const identity = { name, toolCallId };
      const relay =
        typeof context.progress === "function"
          ? createProgressRelay((...step) => context.progress?.(...step), address.tool)
          : undefined;
      try {
        const answer = await tool.run(args, { signal, onProgress: relay?.push });
        return toolResult(identity, answer, { maxBytes: maxResultBytes, content });
      } catch (error) {
        const isRecorded = isManaged(effect) && idempotencyKey !== undefined;
        return failedResult(identity, error, { isRecorded, facts: { ...address } });
      } finally {
        await relay?.end(signal);
      }
    },
  });
}
