import { invalidArgument, requireInteger } from "../argument.ts";
import type { AgUiTool } from "../events.ts";
import { attempt } from "../attempt.ts";
import { atMost } from "./at-most.ts";
import { type AgentCapabilities, resolveCapabilities } from "./capabilities.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { codecFor, installedEncoder } from "./frame-codec.ts";
import type { AgUiHandlerOptions, InputContext } from "./handler-options.ts";
import { lastUserText } from "./input-messages.ts";
import { resolveLimits } from "./limits.ts";
import { assertOptions } from "./option-shapes.ts";
import type { PrismEventOf } from "./prism-events.ts";
import { AgUiRefusal, badInput, codeOf, forbidden } from "./refusal.ts";
import { acceptReplay, cursorOf } from "./replay.ts";
import { CURSOR_OVERHEAD } from "./replay-cursor.ts";
import { readJsonBody } from "./request-body.ts";
import { acceptResume, resumeEntries, runOfInterrupt } from "./resume-run.ts";
import { type ParsedRunInput, parseRunInput } from "./run-input.ts";
import type { RequestContext } from "./run-lifecycle.ts";
import { createRunStream, type RunStream, type RunStreamParts } from "./run-stream.ts";
import { interruptOf, projectInterrupts } from "./suspension.ts";

/** Answers requests, one stream each. */
export interface AgUiServer {
  readonly capabilities: AgentCapabilities;
  answer(request: Request): Promise<Response>;
  /** Ends every stream, and answers 503 from then on. */
  close(options: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** How long readers have to take what is left, in milliseconds: 0 to 600_000. @default 5_000 */
  readonly graceMs?: number | undefined;
}

/** @throws HumanPlusError `invalid_argument` that names the option */
export function createAgUiServer<A, P>(options: AgUiHandlerOptions<A, P>): AgUiServer {
  assertOptions(options);
  const {
    authorize,
    input: { project, frontendTools: takeTools, takesResume = false } = {},
    projection = {},
    interrupts,
    replay,
    pingMs = 15_000,
    encoder = installedEncoder,
    now = Date.now,
  } = options;
  const limits = resolveLimits(options.limits);
  requireInteger("pingMs", pingMs, { min: 10, max: 60_000 });
  const { maxEventBytes, maxCursorBytes } = limits;
  if (replay !== undefined && maxEventBytes < 2 * (maxCursorBytes + CURSOR_OVERHEAD))
    throw invalidArgument(
      "limits.maxEventBytes should leave room for twice limits.maxCursorBytes where there is replay",
    );
  if (interrupts?.expiresAfterMs !== undefined)
    requireInteger("interrupts.expiresAfterMs", interrupts.expiresAfterMs, { min: 1, max: 31_536_000_000 });
  /** Requests without an answer. */
  const asking = new Set<Deadline>();
  const active = new Set<RunStream>();
  let isClosed = false;

  async function respond(request: Request, until: Deadline): Promise<Response> {
    const { signal } = until;
    const body = await readJsonBody(request, limits.maxRequestBytes, signal);
    until.wasRead();
    const input = parseRunInput(body, limits);
    const { threadId, parentRunId } = input;
    const entries = resumeEntries(input, limits);
    const resumes = entries.length > 0 && !takesResume;
    const cursor = resumes ? undefined : cursorOf(request);
    const isText = project === undefined && !resumes && cursor === undefined;
    const text = isText ? lastUserText(input) : undefined;
    const named = resumes ? entries.map(({ interruptId }) => runOfInterrupt(interruptId)).find(Boolean) : undefined;
    const asked = { request, threadId, runId: parentRunId ?? named ?? input.runId, signal };
    const authorization = await authorize(asked);
    if (authorization === false || authorization === undefined || authorization === null) throw forbidden();
    const context = { ...asked, authorization };

    if (resumes) {
      const { events } = await acceptResume(interrupts, entries, context, now);
      return stream(context, input, until, { open: events, goesOn: true, earlyFailure: "RESUME" });
    }
    if (cursor !== undefined) {
      const rereading = await acceptReplay(replay, cursor, limits, context);
      const { events, position } = rereading;
      return stream(context, input, until, {
        open: events,
        rereading,
        goesOn: position !== undefined,
        earlyFailure: "REPLAY",
      });
    }
    const begun = { ...context, runId: input.runId };
    const frontendTools = await toolsOf({ ...begun, input });
    const projected = text === undefined ? await project?.({ ...begun, input, frontendTools }) : (text as P);
    if (projected === undefined || projected === null) throw forbidden("Input is unavailable");
    const { protocolVersion } = input;
    return stream(begun, input, until, {
      clientTools: new Set(frontendTools.map(({ name }) => name)),
      goesOn: entries.length > 0,
      open: (stop) =>
        options.run({ ...begun, parentRunId, input: projected, frontendTools, protocolVersion, signal: stop }),
    });
  }

  async function toolsOf(context: InputContext<A>): Promise<readonly AgUiTool[]> {
    const { tools } = context.input;
    if (tools.length === 0) return [];
    const names = takeTools === undefined ? undefined : await takeTools(context);
    if (names === undefined) throw forbidden("Frontend tools are unavailable");
    const taken = Array.isArray(names) ? names.map((name) => tools.find((tool) => tool.name === name)) : [undefined];
    if (taken.includes(undefined) || new Set(taken).size < taken.length)
      throw badInput("Invalid frontend tool handoff");
    return taken.filter((tool) => tool !== undefined);
  }

  async function stream(
    context: RequestContext<A>,
    input: ParsedRunInput,
    until: Deadline,
    parts: Pick<RunStreamParts, "open" | "goesOn"> &
      Partial<Pick<RunStreamParts, "rereading" | "earlyFailure" | "clientTools">>,
  ): Promise<Response> {
    const isCurrent = input.protocolVersion !== undefined;
    const codec = await codecFor(context.request, isCurrent, encoder);
    until.signal.throwIfAborted();

    const { threadId, runId } = input;
    const run = createRunStream({
      clientTools: new Set(),
      ...input,
      ...parts,
      isCurrent,
      codec,
      limits,
      pingMs,
      projection,
      onProblem: (message, cause) => problem(message, cause, { threadId, runId }),
      onSuspended: (event) => suspended(event, { ...context, signal: until.signal }),
    });
    active.add(run);
    until.onEnd((reason) => {
      if (reason === "time") run.stop("TIMEOUT", "The run took too long");
      else run.stop("CANCELLED", "The client went away");
    });
    void run.ended.then(() => {
      active.delete(run);
      until.clear();
    });
    run.start();
    return new Response(run.body, {
      headers: {
        "content-type": codec.contentType,
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
      },
    });
  }

  async function suspended(
    event: PrismEventOf<"agent_suspended">,
    context: RequestContext<A>,
  ): ReturnType<RunStreamParts["onSuspended"]> {
    const after = interrupts?.expiresAfterMs;
    const expiresAt = after === undefined ? undefined : Math.trunc(now()) + after;
    const interruptId = `${context.runId}:${event.version}`;
    const interrupt = interruptOf(event, { id: interruptId, expiresAt, maxBytes: maxEventBytes });
    const asked = await projectInterrupts(event, interrupt, { projection, limits });
    const { sessionId, runId = context.runId, version } = event;
    await interrupts?.onSuspended?.({ ...context, run: { runId, sessionId }, version, interruptId, expiresAt });
    return asked;
  }

  function problem(message: string, cause?: unknown, ids: { threadId?: string; runId?: string } = {}): void {
    // Who listens for problems adds none.
    attempt(() => options.onProblem?.({ message, ...ids, ...(cause === undefined ? {} : { cause }) }));
  }

  return {
    capabilities: resolveCapabilities(options),
    async answer(request) {
      if (isClosed) return closed().toResponse();
      const until = createDeadline(request.signal, limits.requestTimeoutMs);
      asking.add(until);
      try {
        return await until.race(respond(request, until));
      } catch (error) {
        until.clear();
        if (error instanceof AgUiRefusal) return error.toResponse();
        problem("a request failed", error);
        return new AgUiRefusal(500, "Internal server error").toResponse();
      } finally {
        asking.delete(until);
      }
    },
    async close({ graceMs = 5_000 }) {
      requireInteger("graceMs", graceMs, { min: 0, max: 600_000 });
      isClosed = true;
      for (const until of asking) until.end(closed());
      const streams = [...active];
      for (const run of streams) run.stop("SHUTDOWN", "The server is shutting down");
      await atMost(Promise.all(streams.map(({ done }) => done)), graceMs);
    },
  };
}

function closed(): AgUiRefusal {
  return new AgUiRefusal(503, "The server is shutting down", {
    code: codeOf("SHUTDOWN"),
    headers: { "retry-after": "5" },
  });
}
