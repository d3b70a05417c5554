import type { AgUiTool } from "../events.ts";
import type { Awaitable, Projection } from "../projection.ts";
import type { AgentCapabilities } from "./capabilities.ts";
import type { EncoderModule } from "./frame-codec.ts";
import type { LimitName } from "./limits.ts";
import type { ReplayOptions } from "./replay.ts";
import type { ParsedRunInput } from "./run-input.ts";
import type { InterruptOptions } from "./run-lifecycle.ts";

/** Who asks for what. */
export interface AuthorizeContext {
  /** Its body is read. */
  readonly request: Request;
  readonly threadId: string;
  /** The run that is begun, read or resumed: the run of the interrupt or `parentRunId`, if the request names one. */
  readonly runId: string;
  readonly signal: AbortSignal;
}

export interface InputContext<A> {
  readonly request: Request;
  /** Everything that the client sent, checked. `tools`, `context` and `resume` are there, if only empty. */
  readonly input: ParsedRunInput;
  readonly authorization: A;
  readonly signal: AbortSignal;
}

/** A run that is to begin. */
export interface AgUiRunContext<A, P> {
  readonly request: Request;
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId: string | undefined;
  /** What `authorize` gave. */
  readonly authorization: A;
  /** What `input.project` gave; without it, the text of the last message of a user. */
  readonly input: P;
  /** Tools of the client that `input.frontendTools` took. A call of one ends the run, and the next input answers it. */
  readonly frontendTools: readonly AgUiTool[];
  /** Absent from clients before 1.0. */
  readonly protocolVersion: string | undefined;
  /** Aborts when nobody reads any more, the time is up, or the run was ended. */
  readonly signal: AbortSignal;
}

export interface AgUiInputOptions<A, P> {
  /** Takes more of an input than a text, and gives what `run` gets. Nothing refuses the request with 403. */
  project?:
    | ((context: InputContext<A> & { readonly frontendTools: readonly AgUiTool[] }) => Awaitable<P | undefined>)
    | undefined;
  /** Says which of the client's tools may be called, by name. Without it, a request that has tools is refused. */
  frontendTools?: ((context: InputContext<A>) => Awaitable<readonly string[]>) | undefined;
  /** `project` sees to `resume` entries by itself, for runs that are not of Prism. @default false */
  takesResume?: boolean | undefined;
}

/** Something that went wrong and that the client hears nothing of, or no details. */
export interface AgUiProblem {
  /** Ours: it says nothing of what the client or the run said, besides ids. */
  readonly message: string;
  readonly cause?: unknown;
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
}

export interface AgUiHandlerOptions<A, P = string> {
  /** Called for every request, once its input is checked. `false` and nothing answer 403; throw an `AgUiRefusal` for another status. */
  authorize: (context: AuthorizeContext) => Awaitable<A | false | undefined>;
  /** Begins a run: events of AG-UI, or of Prism through `fromPrism`. Its own `RUN_STARTED` is not needed. */
  run: (context: AgUiRunContext<A, P>) => Awaitable<AsyncIterable<unknown>>;
  input?: AgUiInputOptions<A, P> | undefined;
  /** What of a run leaves besides its text. @default nothing */
  projection?: Projection | undefined;
  /** Runs of Prism that wait for a person. @default they cannot be resumed */
  interrupts?: InterruptOptions<A> | undefined;
  /** Runs that can be read again, with `?cursor=`. @default none */
  replay?: ReplayOptions<A> | undefined;
  /** What the agent says of itself. A claim that these options do not make true is refused. @default nothing */
  capabilities?: AgentCapabilities | undefined;
  /** Bounds of one request and its answer. The README has defaults and hard caps. */
  limits?: Readonly<Partial<Record<LimitName, number | undefined>>> | undefined;
  /** How long a stream may be quiet before it says `: ping`, in milliseconds: 10 to 60_000. @default 15_000 */
  pingMs?: number | undefined;
  /** Loads what writes protobuf, for requests that ask for it by name. @default `@ag-ui/encoder` if it is installed, else they get SSE */
  encoder?: (() => Promise<EncoderModule>) | undefined;
  /** Hears what went wrong. Must not throw. @default nobody does */
  onProblem?: ((problem: AgUiProblem) => void) | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
}
