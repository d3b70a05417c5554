import type { HandlesOf, SurfaceSession, ToolDefinition } from "@human-plus/core";
import {
  describeValue,
  invalidArgument,
  refuseUnknown,
  requireInteger,
  requireMatch,
  requireOptions,
  requireType,
} from "../argument.ts";
import { createSurfaceProjector, type SurfaceProjectorOptions } from "../projector/surface-projector.ts";
import type { ProposalOptions } from "./proposal-desk.ts";

/** Which run asks for a surface. */
export interface SurfaceRunRequest {
  readonly threadId: string;
  readonly runId: string;
  /** What the client sent for us: `forwardedProps.humanplus`, the member by the surface's name. A client can write anything there, so check it. */
  readonly props: unknown;
  /** Aborts when the run is given up. */
  readonly signal: AbortSignal;
}

/** Where something failed that did not fail the run. */
export interface SurfaceFault {
  readonly threadId: string;
  readonly runId: string;
  /** `agent`: the agent said what no client knows, or what comes after its end; nobody acted on it. */
  readonly stage: "connect" | "tools" | "changes" | "watch" | "call" | "decide" | "agent";
  readonly error: unknown;
}

export interface SurfaceMiddlewareConfig {
  /**
   * The surface: one session for all runs, or which one a run gets. A run begins with what its session has read, so give
   * every thread (and with that, every user) a session of its own. The same object again is the same surface: what is
   * remembered of threads belongs to it. A run that gets `undefined` runs without a surface.
   */
  surface:
    | SurfaceSession
    | ((run: SurfaceRunRequest) => SurfaceSession | undefined | Promise<SurfaceSession | undefined>);
  /** Names the surface in tools, ids and words to the model: 1 to 24 of `A-Za-z0-9_-`. @default "surface" */
  name?: string | undefined;
  /**
   * Which of the tools that trust admits are offered. A function that throws, or gives anything but true and false, has the
   * run go on without tools, and `onError` hears of it; so it does, once for each session, of a name that nothing has.
   * @default all of them
   */
  tools?: readonly string[] | ((tool: ToolDefinition) => boolean) | undefined;
  /** Tell the model what happened since its thread's last run, as one entry of `context`. @default true */
  context?: boolean | undefined;
  /** How people are shown what happens, or false for not at all. @default the activity, with words of ours and numbers */
  feed?: false | Omit<SurfaceProjectorOptions, "surface" | "name"> | undefined;
  /**
   * What a staged proposal does: `"report"` tells the model that a person decides and goes on; options stop the run with an
   * interrupt until a person has. @default "report"
   */
  proposals?: "report" | ProposalOptions | undefined;
  /** Refuse calls that name what somebody else has just changed. Needs `handlesOf`. @default false */
  protect?: boolean | undefined;
  /** The handles that a call works on. @default none */
  handlesOf?: HandlesOf | undefined;
  /** End a call when a person acts on the surface while it runs. @default false */
  yieldToPerson?: boolean | undefined;
  /** Rounds of calls in one run: 1 to 1,000. @default 32 */
  maxIterations?: number | undefined;
  /** Calls of the surface that are made in one round; those beyond are answered with the reason: 1 to 1,000. @default 64 */
  maxCallsPerRound?: number | undefined;
  /** Tools offered: 1 to 256. @default 32 */
  maxTools?: number | undefined;
  /** UTF-8 bytes of one tool's definition: 256 to 262,144. @default 16_384 */
  maxToolBytes?: number | undefined;
  /** How long a run waits for the surface before it goes on without, in milliseconds: 1 to 60,000. @default 5_000 */
  setupTimeoutMs?: number | undefined;
  /** How long one call, or `decide` of a proposal, may take, in milliseconds: 1 to 600,000. @default 30_000 */
  callTimeoutMs?: number | undefined;
  /** Sessions that are kept in mind: 1 to 100,000. @default 256 */
  maxSurfaces?: number | undefined;
  /** Threads of each that are kept in mind: 1 to 100,000. @default 256 */
  maxThreads?: number | undefined;
  /** Hears of what failed without failing the run. @default nobody */
  onError?: ((fault: SurfaceFault) => void) | undefined;
  /** Milliseconds since the epoch. @default Date.now */
  now?: (() => number) | undefined;
  /** Mints ids of runs, messages and interrupts. @default crypto.randomUUID */
  randomId?: (() => string) | undefined;
}

/** The configuration with its defaults. */
export interface SurfaceSettings {
  readonly surface: (run: SurfaceRunRequest) => SurfaceSession | undefined | Promise<SurfaceSession | undefined>;
  readonly name: string;
  /** Throws what a filter of the host throws. */
  readonly admits: (tool: ToolDefinition) => boolean;
  /** The names of tools that the host wants offered, if it gave names. */
  readonly wanted: readonly string[];
  readonly context: boolean;
  readonly feed: Omit<SurfaceProjectorOptions, "surface">;
  readonly shows: boolean;
  readonly proposals: ProposalOptions | undefined;
  readonly settleTimeoutMs: number;
  readonly protect: boolean;
  readonly handlesOf: HandlesOf | undefined;
  readonly yieldToPerson: boolean;
  readonly maxIterations: number;
  readonly maxCallsPerRound: number;
  readonly maxTools: number;
  readonly maxToolBytes: number;
  readonly setupTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxSurfaces: number;
  readonly maxThreads: number;
  readonly onError: (fault: SurfaceFault) => void;
  readonly now: () => number;
  readonly randomId: () => string;
}

/** @throws HumanPlusError `invalid_argument` that names the member, also for one that there is not */
export function readSettings(config: SurfaceMiddlewareConfig): SurfaceSettings {
  requireOptions("options of the middleware", config);
  const {
    surface,
    name = "surface",
    tools,
    context = true,
    feed = {},
    proposals = "report",
    protect = false,
    handlesOf,
    yieldToPerson = false,
    maxIterations = 32,
    maxCallsPerRound = 64,
    maxTools = 32,
    maxToolBytes = 16_384,
    setupTimeoutMs = 5_000,
    callTimeoutMs = 30_000,
    maxSurfaces = 256,
    maxThreads = 256,
    onError = () => undefined,
    now = Date.now,
    randomId = () => crypto.randomUUID(),
    ...unknown
  } = config;
  refuseUnknown("options of the middleware", unknown);
  requireMatch("name", name, /^[A-Za-z0-9_-]{1,24}$/);
  requireInteger("maxIterations", maxIterations, { min: 1, max: 1_000 });
  requireInteger("maxCallsPerRound", maxCallsPerRound, { min: 1, max: 1_000 });
  requireInteger("maxTools", maxTools, { min: 1, max: 256 });
  requireInteger("maxToolBytes", maxToolBytes, { min: 256, max: 262_144 });
  requireInteger("setupTimeoutMs", setupTimeoutMs, { min: 1, max: 60_000 });
  requireInteger("callTimeoutMs", callTimeoutMs, { min: 1, max: 600_000 });
  requireInteger("maxSurfaces", maxSurfaces, { min: 1, max: 100_000 });
  requireInteger("maxThreads", maxThreads, { min: 1, max: 100_000 });
  for (const [key, value] of Object.entries({ context, protect, yieldToPerson })) requireType(key, value, "boolean");
  for (const [key, value] of Object.entries({ handlesOf, onError, now, randomId })) requireType(key, value, "function");
  if (protect && handlesOf === undefined)
    throw invalidArgument("protect needs handlesOf: which handles a call works on");
  const interrupting = readProposals(proposals);
  const shown = readFeed(feed, name, now);
  return {
    surface: requireSurface(surface),
    name,
    ...admitting(tools),
    context,
    feed: shown,
    shows: feed !== false,
    proposals: interrupting,
    settleTimeoutMs: interrupting?.settleTimeoutMs ?? 5_000,
    protect,
    handlesOf,
    yieldToPerson,
    maxIterations,
    maxCallsPerRound,
    maxTools,
    maxToolBytes,
    setupTimeoutMs,
    callTimeoutMs,
    maxSurfaces,
    maxThreads,
    onError,
    now,
    randomId,
  };
}

/** @returns nothing where proposals are only reported */
function readProposals(proposals: SurfaceMiddlewareConfig["proposals"]): ProposalOptions | undefined {
  if (proposals === undefined || proposals === "report") return undefined;
  if (typeof proposals === "string")
    throw invalidArgument(`proposals should be "report" or options, is ${describeValue(proposals)}`);
  requireOptions("proposals", proposals);
  const { decide, message, settleTimeoutMs = 5_000, ...unknown } = proposals;
  refuseUnknown("proposals", unknown);
  requireType("proposals.decide", decide, "function");
  requireType("proposals.message", message, "function");
  requireInteger("proposals.settleTimeoutMs", settleTimeoutMs, { min: 0, max: 60_000 });
  return proposals;
}

function readFeed(
  feed: SurfaceMiddlewareConfig["feed"] = {},
  name: string,
  now: () => number,
): SurfaceSettings["feed"] {
  if (feed === false) return { contextDetail: "changes", name, now };
  requireOptions("feed", feed);
  for (const key of ["surface", "name"]) if (key in feed) refuseUnknown("feed", { [key]: undefined });
  const shown = { contextDetail: "changes" as const, now, ...feed, name };
  // Says now what is wrong with them, and not in the first run.
  createSurfaceProjector({ ...shown, surface: { observe: () => () => undefined } }).close();
  return shown;
}

function requireSurface(surface: SurfaceMiddlewareConfig["surface"]): SurfaceSettings["surface"] {
  if (typeof surface === "function") return surface;
  if (isSession(surface)) return () => surface;
  throw invalidArgument(`surface should be a session or a function that gives one, is ${describeValue(surface)}`);
}

export function isSession(value: unknown): value is SurfaceSession {
  const session = value as Partial<SurfaceSession> | null | undefined;
  return typeof session?.call === "function" && typeof session.tools === "function" && typeof session.on === "function";
}

function admitting(tools: SurfaceMiddlewareConfig["tools"]): Pick<SurfaceSettings, "admits" | "wanted"> {
  if (tools === undefined) return { admits: () => true, wanted: [] };
  if (typeof tools === "function") return { admits: (tool) => requireFlag("tools", tools(tool)), wanted: [] };
  if (!Array.isArray(tools) || tools.some((tool) => typeof tool !== "string"))
    throw invalidArgument(`tools should be a list of names, or a function, is ${describeValue(tools)}`);
  const names: ReadonlySet<string> = new Set(tools);
  return { admits: ({ name }) => names.has(name), wanted: [...names] };
}

/** What a callback of the host gave. A promise is neither true nor false, and would be taken for true. */
function requireFlag(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value instanceof Promise) value.catch(() => undefined);
  const given = value instanceof Promise ? "a promise" : describeValue(value);
  throw invalidArgument(`${name} should give true or false, and at once, gave ${given}`);
}
