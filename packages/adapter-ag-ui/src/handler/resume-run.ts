import { isObject } from "../bounded-json.ts";
import type { AgUiResumeEntry } from "../events.ts";
import { listOf, readEach } from "./input-lists.ts";
import type { Limits } from "./limits.ts";
import { AgUiRefusal, badInput, codeOf, forbidden, invalid } from "./refusal.ts";
import { type ParsedRunInput, readResumeEntry } from "./run-input.ts";
import type { InterruptOptions, RequestContext, ResolvedRun, RunVerdict } from "./run-lifecycle.ts";
import { isEdit, readVerdict } from "./verdict.ts";

/** A run that may go on, once. */
export interface AcceptedResume {
  readonly run: ResolvedRun;
  readonly events: (signal: AbortSignal) => AsyncIterable<unknown>;
}

/**
 * The entries of a request: `resume`, or what older hosts put into `forwardedProps.command.resume`, as entries or as a text of
 * them. One that names no interrupt is refused: it could meet another one than the person saw.
 *
 * @throws AgUiRefusal 400 or 413
 */
export function resumeEntries({ resume, forwardedProps }: ParsedRunInput, limits: Limits): readonly AgUiResumeEntry[] {
  if (resume.length > 0) return resume;
  const command = isObject(forwardedProps) ? forwardedProps["command"] : undefined;
  let legacy = isObject(command) ? command["resume"] : undefined;
  if (legacy === undefined || legacy === null) return [];
  if (typeof legacy === "string") {
    try {
      legacy = JSON.parse(legacy) as unknown;
    } catch (error) {
      throw badInput("command.resume should be entries that name their interrupt", error);
    }
  }
  const entries = listOf("command.resume", Array.isArray(legacy) ? legacy : [legacy], limits, "maxInputInterrupts");
  return readEach("command.resume", entries, (entry) => readResumeEntry({ status: "resolved", ...entry }));
}

/** The run that an interrupt of ours belongs to. */
export function runOfInterrupt(interruptId: string): string | undefined {
  return /^(.+):\d{1,15}$/.exec(interruptId)?.[1];
}

/**
 * Decides what a resume does, from the status of the run and nothing that the client says of it.
 *
 * @throws AgUiRefusal 400, 403
 */
export async function acceptResume<A>(
  options: InterruptOptions<A> | undefined,
  entries: readonly AgUiResumeEntry[],
  asked: RequestContext<A>,
  now: () => number,
): Promise<AcceptedResume> {
  if (options === undefined) throw new AgUiRefusal(400, "Durable resume is not configured", { code: codeOf("REPLAY") });
  const run = await options.resolveRun(asked);
  if (run === undefined || run === null) throw forbidden("Run is unavailable");
  const { ref, agentId, ownership, expiresAt } = run;
  const status = await options.lifecycle.status(ref, { ownership, agentId, signal: asked.signal }).catch(unavailable);
  const { version } = status;
  const expectedInterruptId = `${asked.runId}:${version}`;
  if (status.state.status !== "suspended" || !entries.some(({ interruptId }) => interruptId === expectedInterruptId))
    throw mismatch();

  const verdict = async (): Promise<RunVerdict> => {
    const isDenial = entries.some(isEdit) || entries.every((entry) => entry.status === "cancelled");
    if (isDenial || (expiresAt !== undefined && now() >= expiresAt)) return { decision: "deny" };
    if (options.resume === undefined) {
      const [entry, ...others] = entries;
      if (entry === undefined || others.length > 0) throw mismatch();
      return readVerdict(entry.payload) ?? refuse("Resume payload");
    }
    const given = await options.resume({ ...asked, entries, run, status, expectedInterruptId });
    const { expectedVersion = version, ...payload } = given ?? {};
    const read = expectedVersion === version ? readVerdict(payload) : undefined;
    return read ?? refuse("Interrupt resolution");
  };
  const resume = { expectedVersion: version, ...(await verdict()) };
  return { run, events: (signal) => options.lifecycle.resumeStream(ref, resume, { ownership, agentId, signal }) };
}

/** A run that is not there, or somebody else's, is no failure of the host. */
function unavailable(error: unknown): never {
  if (isObject(error) && error["code"] === "ERR_PRISM_AGENT_RUN_STATE") throw forbidden("Run is unavailable");
  throw error;
}

function refuse(what: string): never {
  throw invalid(what);
}

function mismatch(): AgUiRefusal {
  return badInput("Resume does not match the pending interrupt");
}
