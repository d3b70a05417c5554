import { describeValue, invalidArgument, requireInteger } from "../argument.ts";
import type { AgUiTool } from "../events.ts";
import type { Projection } from "../projection.ts";
import { atMost } from "./at-most.ts";
import { type AgentCapabilities, resolveCapabilities } from "./capabilities.ts";
import { Deadline } from "./deadline.ts";
import { codecFor, installedEncoder } from "./frame-codec.ts";
import type { AgUiHandlerOptions, InputContext } from "./handler-options.ts";
import { lastUserText } from "./input-messages.ts";
import { type Limits, resolveLimits } from "./limits.ts";
import { AgUiRefusal, badInput, codeOf, forbidden } from "./refusal.ts";
import { acceptReplay, cursorOf } from "./replay.ts";
import { CURSOR_OVERHEAD } from "./replay-cursor.ts";
import { readJsonBody } from "./request-body.ts";
import { acceptResume, resumeEntries, runOfInterrupt } from "./resume-run.ts";
import { type ParsedRunInput, parseRunInput } from "./run-input.ts";
import type { RequestContext } from "./run-lifecycle.ts";
import { RunStream, type RunStreamParts } from "./run-stream.ts";
import { interruptOf, projectInterrupts } from "./suspension.ts";

/** Answers requests, one stream each. */
export class AgUiServer<A, P> {
  readonly capabilities: AgentCapabilities;
  readonly #options: AgUiHandlerOptions<A, P>;
  readonly #limits: Limits;
  readonly #projection: Projection;
  readonly #pingMs: number;
  /** Requests without an answer. */
  readonly #asked = new Set<Deadline>();
  readonly #active = new Set<RunStream>();
  #isClosed = false;

  constructor(options: AgUiHandlerOptions<A, P>) {
    const { authorize, run, input } = options ?? {};
    const { project = run, frontendTools = run } = input ?? {};
    const callbacks = { authorize, run, "input.project": project, "input.frontendTools": frontendTools };
    for (const [name, callback] of Object.entries(callbacks))
      if (typeof callback !== "function")
        throw invalidArgument(`${name} should be a function, is ${describeValue(callback)}`);
    const { limits, pingMs = 15_000, projection = {}, interrupts, replay, capabilities = {} } = options;
    this.#options = options;
    this.#projection = projection;
    this.#limits = resolveLimits(limits);
    this.#pingMs = requireInteger("pingMs", pingMs, { min: 10, max: 60_000 });
    const { maxEventBytes, maxCursorBytes } = this.#limits;
    if (replay !== undefined && maxEventBytes < 2 * (maxCursorBytes + CURSOR_OVERHEAD))
      throw invalidArgument(
        "limits.maxEventBytes should leave room for twice limits.maxCursorBytes where there is replay",
      );
    if (interrupts?.expiresAfterMs !== undefined)
      requireInteger("interrupts.expiresAfterMs", interrupts.expiresAfterMs, { min: 1, max: 31_536_000_000 });
    this.capabilities = resolveCapabilities(capabilities, options);
  }

  async answer(request: Request): Promise<Response> {
    if (this.#isClosed) return closed().toResponse();
    const until = new Deadline(request.signal, this.#limits.requestTimeoutMs);
    this.#asked.add(until);
    try {
      return await until.race(this.#respond(request, until));
    } catch (error) {
      until.clear();
      if (error instanceof AgUiRefusal) return error.toResponse();
      this.#problem("a request failed", error);
      return new AgUiRefusal(500, "Internal server error").toResponse();
    } finally {
      this.#asked.delete(until);
    }
  }

  async close({ graceMs = 5_000 }: { readonly graceMs?: number | undefined }): Promise<void> {
    requireInteger("graceMs", graceMs, { min: 0, max: 600_000 });
    this.#isClosed = true;
    for (const until of this.#asked) until.end(closed());
    const streams = [...this.#active];
    for (const stream of streams) stream.stop("SHUTDOWN", "The server is shutting down");
    await atMost(Promise.all(streams.map(({ done }) => done)), graceMs);
  }

  async #respond(request: Request, until: Deadline): Promise<Response> {
    const { signal } = until;
    const { authorize, input: inputOptions } = this.#options;
    const body = await readJsonBody(request, this.#limits.maxRequestBytes, signal);
    until.wasRead();
    const input = parseRunInput(body, this.#limits);
    const entries = resumeEntries(input, this.#limits);
    const resumes = entries.length > 0 && inputOptions?.takesResume !== true;
    const cursor = resumes ? undefined : cursorOf(request);
    const isText = inputOptions?.project === undefined && !resumes && cursor === undefined;
    const text = isText ? lastUserText(input) : undefined;
    const { threadId } = input;
    const named = resumes ? entries.map(({ interruptId }) => runOfInterrupt(interruptId)).find(Boolean) : undefined;
    const runId = input.parentRunId ?? named ?? input.runId;
    const authorization = await authorize({ request, threadId, runId, signal });
    if (authorization === false || authorization === undefined || authorization === null) throw forbidden();
    const context = { request, threadId, runId, authorization, signal };

    if (resumes) {
      const { interrupts, now = Date.now } = this.#options;
      const { events } = await acceptResume(interrupts, entries, context, now);
      return this.#stream(context, input, until, {
        open: events,
        goesOn: true,
        earlyFailure: "RESUME",
      });
    }
    if (cursor !== undefined) {
      const replay = await acceptReplay(this.#options.replay, cursor, this.#limits, context);
      return this.#stream(context, input, until, {
        open: replay.events,
        rereading: replay,
        goesOn: replay.position !== undefined,
        earlyFailure: "REPLAY",
      });
    }
    const frontendTools = await this.#frontendTools({ request, input, authorization, signal });
    const projected =
      text === undefined
        ? await inputOptions?.project?.({ request, input, authorization, signal, frontendTools })
        : (text as P);
    if (projected === undefined || projected === null) throw forbidden("Input is unavailable");
    return this.#stream({ ...context, runId: input.runId }, input, until, {
      frontendTools,
      goesOn: entries.length > 0,
      open: (stop) =>
        this.#options.run({
          request,
          threadId,
          runId: input.runId,
          parentRunId: input.parentRunId,
          authorization,
          input: projected,
          frontendTools,
          protocolVersion: input.protocolVersion,
          signal: stop,
        }),
    });
  }

  async #frontendTools(context: InputContext<A>): Promise<readonly AgUiTool[]> {
    const { tools } = context.input;
    if (tools.length === 0) return [];
    const policy = this.#options.input?.frontendTools;
    if (policy === undefined) throw forbidden("Frontend tools are unavailable");
    const names = await policy(context);
    const taken = Array.isArray(names) ? names.map((name) => tools.find((tool) => tool.name === name)) : [undefined];
    if (taken.includes(undefined) || new Set(taken).size < taken.length)
      throw badInput("Invalid frontend tool handoff");
    return taken.filter((tool) => tool !== undefined);
  }

  async #stream(
    context: RequestContext<A>,
    input: ParsedRunInput,
    until: Deadline,
    {
      frontendTools = [],
      ...parts
    }: Pick<RunStreamParts, "open" | "goesOn"> &
      Partial<Pick<RunStreamParts, "rereading" | "earlyFailure">> & {
        readonly frontendTools?: readonly AgUiTool[];
      },
  ): Promise<Response> {
    const isCurrent = input.protocolVersion !== undefined;
    const codec = await codecFor(context.request, isCurrent, this.#options.encoder ?? installedEncoder);
    until.signal.throwIfAborted();
    const { threadId, runId, parentRunId, messages, state } = input;
    const stream = new RunStream({
      ...parts,
      threadId,
      runId,
      parentRunId,
      messages,
      state,
      isCurrent,
      codec,
      clientTools: new Set(frontendTools.map(({ name }) => name)),
      limits: this.#limits,
      pingMs: this.#pingMs,
      projection: this.#projection,
      onProblem: (message, cause) => this.#problem(message, cause, { threadId, runId }),
      onSuspended: (event) => this.#suspended(event, { ...context, signal: until.signal }),
    });
    this.#active.add(stream);
    until.onEnd((reason) => {
      if (reason === "time") stream.stop("TIMEOUT", "The run took too long");
      else stream.stop("CANCELLED", "The client went away");
    });
    void stream.ended.then(() => {
      this.#active.delete(stream);
      until.clear();
    });
    stream.start();
    return new Response(stream.body, {
      headers: {
        "content-type": codec.contentType,
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
      },
    });
  }

  async #suspended(
    event: Parameters<RunStreamParts["onSuspended"]>[0],
    context: RequestContext<A>,
  ): ReturnType<RunStreamParts["onSuspended"]> {
    const { interrupts, now = Date.now } = this.#options;
    const after = interrupts?.expiresAfterMs;
    const expiresAt = after === undefined ? undefined : Math.trunc(now()) + after;
    const interruptId = `${context.runId}:${event.version}`;
    const interrupt = interruptOf(event, { id: interruptId, expiresAt, maxBytes: this.#limits.maxEventBytes });
    const asked = await projectInterrupts(event, interrupt, { projection: this.#projection, limits: this.#limits });
    const { sessionId, runId = context.runId, version } = event;
    await interrupts?.onSuspended?.({ ...context, run: { runId, sessionId }, version, interruptId, expiresAt });
    return asked;
  }

  #problem(message: string, cause?: unknown, ids: { threadId?: string; runId?: string } = {}): void {
    try {
      this.#options.onProblem?.({ message, ...ids, ...(cause === undefined ? {} : { cause }) });
    } catch {
      // Who listens for problems adds none.
    }
  }
}

function closed(): AgUiRefusal {
  return new AgUiRefusal(503, "The server is shutting down", {
    code: codeOf("SHUTDOWN"),
    headers: { "retry-after": "5" },
  });
}
