import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";
import type { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { completeInput } from "../judge.ts";
import { type ClientOutcome, type ClientRun, type ClientVersion, runClient } from "./clients.ts";

export interface SurfaceRunOptions {
  readonly url: string;
  readonly middleware: SurfaceMiddleware | readonly unknown[];
  readonly input?: Partial<AgUiRunInput> | undefined;
  /** @default 1.0.0 */
  readonly version?: ClientVersion | undefined;
  readonly pendingInterrupts?: ClientRun["pendingInterrupts"];
  readonly onEvent?: ClientRun["onEvent"];
}

/** What a host got of a run with a surface in it. */
export interface SurfaceRunResult extends ClientOutcome {
  /** Types of its events, without the surface's own activities. */
  readonly types: readonly string[];
  /** Contents of answers, by call. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Runs an agent with a middleware in a client. What comes out of it is judged by all of them, as that of every middleware is. */
export async function runWithSurface({ middleware, ...options }: SurfaceRunOptions): Promise<SurfaceRunResult> {
  const { version = "1.0.0" } = options;
  const input = completeInput(options.input);
  const middlewares = Array.isArray(middleware) ? middleware : [middleware];
  const outcome = await runClient({ ...options, version, input, middlewares });
  if (outcome.rejection !== undefined) throw new Error(`the run was rejected: ${outcome.rejection}`);
  if (outcome.warnings.length > 0) throw new Error(`the client warns: ${outcome.warnings.join("\n")}`);
  await new Promise((resolve) => setImmediate(resolve)); // what a run set in motion gets its turn before the next one
  const answers = outcome.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
  return {
    ...outcome,
    types: outcome.events.map(({ type }) => type).filter((type) => !type.startsWith("ACTIVITY_")),
    answers: Object.fromEntries(answers.map((event) => [event["toolCallId"], event["content"]])),
  };
}
