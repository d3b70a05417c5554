import type { AgUiResumeEntry } from "../events.ts";
import type { Awaitable } from "../projection.ts";

/** Names a run to its host. */
export interface RunRef {
  readonly runId: string;
  readonly sessionId?: string | undefined;
}

/** Whose a run is, as the host knows it. It never comes from what a client sent. */
export type Ownership = Readonly<Record<string, string | undefined>>;

export interface LifecycleOptions {
  readonly ownership?: Ownership | undefined;
  readonly agentId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a person decided about one call. */
export interface RunDecision {
  readonly approvalId: string;
  readonly outcome: "allow_once" | "allow_for_run" | "reject_once" | "reject_for_run";
  /** At most 2 KiB. */
  readonly reason?: string | undefined;
  /** At most 16 KiB as JSON. */
  readonly modifiedArguments?: Readonly<Record<string, unknown>> | undefined;
  /** At most 16 KiB as JSON. */
  readonly elicitation?: Readonly<Record<string, unknown>> | undefined;
}

/** One decision about all that waits, or one about each of at most 128 calls. */
export type RunVerdict =
  | { readonly decision: "approve" | "deny" }
  | { readonly decisions: readonly [RunDecision, ...RunDecision[]] };

/** Goes on with the run if it still is at that version, and does nothing otherwise. */
export type RunResume = { readonly expectedVersion: number } & RunVerdict;

/** Keeps suspended runs. `createAgentRunLifecycle` of Prism makes one. */
export interface RunLifecycle {
  /** Fails with the code `ERR_PRISM_AGENT_RUN_STATE` for a run that is not there, or somebody else's. */
  status(
    ref: RunRef,
    options: LifecycleOptions,
  ): Promise<{ readonly state: { readonly status: string }; readonly version: number }>;
  /** Has to compare and set: of two that resume the same version, one fails before anything runs. */
  resumeStream(ref: RunRef, resume: RunResume, options: LifecycleOptions): AsyncIterable<unknown>;
}

export interface ResolvedRun {
  readonly ref: RunRef;
  readonly agentId?: string | undefined;
  readonly ownership?: Ownership | undefined;
  /** Milliseconds since the epoch. A run that is resumed later is denied. @default never */
  readonly expiresAt?: number | undefined;
}

/** Who asks about which run. */
export interface RequestContext<A> {
  readonly request: Request;
  readonly threadId: string;
  /** As the client was told of it. */
  readonly runId: string;
  readonly authorization: A;
  readonly signal: AbortSignal;
}

export interface SuspendedContext<A> extends RequestContext<A> {
  /** As the run's events name it. */
  readonly run: RunRef;
  readonly version: number;
  readonly interruptId: string;
  /** Milliseconds since the epoch, for `resolveRun` to give back. */
  readonly expiresAt: number | undefined;
}

export interface ResumePolicyContext<A> extends RequestContext<A> {
  readonly entries: readonly AgUiResumeEntry[];
  readonly run: ResolvedRun;
  readonly status: { readonly state: { readonly status: string }; readonly version: number };
  readonly expectedInterruptId: string;
}

/** How runs of Prism wait for a person, and go on. */
export interface InterruptOptions<A> {
  lifecycle: RunLifecycle;
  /** Finds the run that an interrupt belongs to. Nothing means that there is none for whoever asks. */
  resolveRun: (context: RequestContext<A>) => Awaitable<ResolvedRun | undefined>;
  /** Keeps what `resolveRun` needs. Awaited before the client hears of the interrupt. */
  onSuspended?: ((context: SuspendedContext<A>) => Awaitable<void>) | undefined;
  /**
   * Decides in place of the standard reading, also of several entries. Not asked about entries that are all cancelled, about
   * edits, or after the expiry: those deny. Nothing, or another version, refuses the request.
   */
  resume?:
    | ((context: ResumePolicyContext<A>) => Awaitable<(RunVerdict & { expectedVersion?: number }) | undefined>)
    | undefined;
  /** How long a person has, in milliseconds. It is told to the client and to `onSuspended`. @default no end */
  expiresAfterMs?: number | undefined;
}
