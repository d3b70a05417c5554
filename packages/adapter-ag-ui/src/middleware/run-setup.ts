import type { RunAgentInput } from "@ag-ui/client";
import type { Reading, SurfaceSession, ToolDefinition, Turn } from "@human-plus/core";
import type { OwnMaterial } from "./own-material.ts";
import { isSession, type SurfaceFault, type SurfaceSettings } from "./settings.ts";
import type { SurfaceView } from "./surface-view.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import { withTimeout } from "./timeout.ts";
import { offerTools, type ToolOffer } from "./tool-offer.ts";

/** What setting a run up needs. */
export interface RunSetup {
  readonly settings: SurfaceSettings;
  readonly signal: AbortSignal;
  readonly onFault: (stage: SurfaceFault["stage"], error: unknown) => void;
  /** Ends with the run. */
  readonly onEnd: (end: () => void) => void;
}

/** Tools that are left out and told of one by one. */
const MAX_TOLD = 8;

/** What a run has of its surface. */
export interface PreparedSurface {
  readonly offer: ToolOffer;
  /** What the agent has read, in what it is told as the run begins. Absent where nothing is offered. */
  readonly reading: Reading | undefined;
}

/** The surface of a run. One that cannot be had is no reason to fail. */
export async function connectSurface(
  { input: { threadId, runId }, props }: OwnMaterial,
  { settings: { surface, setupTimeoutMs }, signal, onFault }: RunSetup,
): Promise<SurfaceSession | undefined> {
  try {
    const given = surface({ threadId, runId, props, signal });
    const session = await withTimeout(Promise.resolve(given), {
      what: "giving a surface",
      timeoutMs: setupTimeoutMs,
      signal,
      outcome: "not_applied",
    });
    if (session === undefined || isSession(session)) return session;
    throw new TypeError("the function surface gave something that is no session");
  } catch (error) {
    onFault("connect", error);
    return undefined;
  }
}

/** Asks the surface for its tools and for what changed. One that does not answer offers nothing, and the context says so. */
export async function prepareSurface(
  { session, missing }: SurfaceView,
  { names: meanings }: ThreadMemory,
  taken: NonNullable<RunAgentInput["tools"]>,
  { settings, signal, onFault, onEnd }: RunSetup,
): Promise<PreparedSurface> {
  const { setupTimeoutMs: timeoutMs, context, protect, handlesOf, shows, name } = settings;
  const options = { signal, timeoutMs };
  /** Sessions see to these times too; a store of attachments that hangs may keep them from it. */
  const inTime = <T>(asked: Promise<T>, what: string) =>
    withTimeout(asked, { what, timeoutMs, signal, outcome: "not_applied" });
  let definitions: readonly ToolDefinition[] = [];
  let reading: Reading | undefined;
  try {
    const listed = await inTime(session.tools(options), "listing tools");
    missing.tell(settings.wanted, listed, (error) => onFault("tools", error));
    if (context || protect) await begin(session.turn({ ...options, protect, handlesOf }));
    reading = await inTime(session.reading(), "a reading");
    definitions = listed;
    if (shows) await watch(session.watch());
  } catch (error) {
    onFault("tools", error);
  }
  const { admits, maxTools, maxToolBytes } = settings;
  const offering = { surface: name, meanings, admits, maxTools, maxToolBytes };
  let offer: ToolOffer;
  try {
    offer = await offerTools(definitions, taken, offering);
  } catch (error) {
    // Whoever cannot say which tools are offered offers none.
    onFault("tools", error);
    offer = await offerTools([], taken, offering);
  }
  const { leftOut } = offer;
  for (const { tool, why } of leftOut.slice(0, MAX_TOLD))
    onFault("tools", new Error(`the tool ${tool} is not offered: ${why}`));
  if (leftOut.length > MAX_TOLD) onFault("tools", new Error(`${leftOut.length - MAX_TOLD} more tools are not offered`));
  return { offer, reading };

  async function begin(turning: Promise<Turn>): Promise<void> {
    try {
      const turn = await inTime(turning, "asking what changed");
      onEnd(() => turn.end());
    } catch (error) {
      turning.then((late) => late.end()).catch(() => undefined);
      onFault("changes", error);
    }
  }

  async function watch(watching: Promise<() => void>): Promise<void> {
    try {
      onEnd(await inTime(watching, "watching the surface"));
    } catch (error) {
      watching.then((stop) => stop()).catch(() => undefined);
      onFault("watch", error);
    }
  }
}
