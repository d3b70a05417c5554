import { type ApprovalQuestion, approvalRequest } from "./approval.ts";
import {
  assertCount,
  assertFlag,
  assertFunction,
  assertOptions,
  assertPart,
  type Checks,
  optional,
} from "./argument.ts";
import { isManaged } from "./effect.ts";
import type { AgentSession, ToolDefinition, ToolRegistry } from "./host.ts";
import { type LiveToolset, openLiveToolset } from "./live-toolset.ts";
import type { OfferedTool } from "./offered-tool.ts";
import { createProgressRelay } from "./progress.ts";
import { createSurfaceRegistry } from "./registry.ts";
import { RunReadings } from "./run-readings.ts";
import { type SurfaceToolsOptions, surfaceToolsChecks } from "./surface-tools.ts";
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
export interface SurfaceToolset extends LiveToolset<ToolDefinition> {
  /** A registry for one agent: each run sees the tools as they were at its start. */
  registry(): ToolRegistry;
  /**
   * Pins calls that the model of a session decides on in one turn, or beside models of other sessions, to what it had read by
   * then. Without it they are pinned to what was last read through the attachment, by anybody. It follows the runs of the
   * session by its events until those are over, the set is closed, or what it gives back is called.
   *
   * @throws HumanPlusError `invalid_argument`, and `closed`
   */
  follow(session: AgentSession): () => void;
}

/**
 * Lists the tools of an attached surface and gives them the host's shape.
 *
 * @throws HumanPlusError `invalid_argument` for an option, `catalogue_refused` where names collide, and what `HumanPlus.tools` throws
 */
export async function createSurfaceToolset(options: SurfaceToolsetOptions): Promise<SurfaceToolset> {
  assertOptions("createSurfaceToolset", options, checks);
  const readings = new RunReadings(options);
  const toolset = await openLiveToolset(options, (tool) => toHostTool(tool, options, readings));
  const closeTools = toolset.close;
  const close = async () => {
    readings.close();
    await closeTools();
  };
  return Object.assign(toolset, {
    registry: () => createSurfaceRegistry(() => toolset.tools),
    follow(session: AgentSession) {
      assertSession("session", session);
      return readings.follow(session);
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}

const assertSession = assertPart("a session of the host", "subscribe");

const checks: Checks<SurfaceToolsetOptions> = {
  ...surfaceToolsChecks,
  question: optional(assertFunction),
  content: optional(assertFlag),
  maxResultBytes: optional(assertCount),
};

type ResultOptions = Pick<SurfaceToolsetOptions, "question" | "content" | "maxResultBytes">;

function toHostTool(tool: OfferedTool, options: ResultOptions, readings: RunReadings): ToolDefinition {
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
        const reading = await readings.before(context);
        const answer = await tool.run(args, { signal, onProgress: relay?.push, reading });
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
