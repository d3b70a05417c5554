import type { RunAgentInput } from "@ag-ui/client";
import type { SurfaceSession, ToolDefinition, Turn } from "@human-plus/core";
import type { OwnMaterial } from "./own-material.ts";
import { isSession, type SurfaceFault, type SurfaceSettings } from "./settings.ts";
import type { SurfaceView } from "./surface-view.ts";
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
  { session }: SurfaceView,
  taken: NonNullable<RunAgentInput["tools"]>,
  { settings, signal, onFault, onEnd }: RunSetup,
): Promise<ToolOffer> {
  const { setupTimeoutMs: timeoutMs, context, protect, handlesOf, shows, name } = settings;
  const options = { signal, timeoutMs };
  let definitions: readonly ToolDefinition[] = [];
  try {
    definitions = await session.tools(options);
    if (context || protect) await begin(session.turn({ ...options, protect, handlesOf }));
    if (shows) await watch();
  } catch (error) {
    onFault("tools", error);
  }
  const { admits, maxTools, maxToolBytes } = settings;
  const offer = offerTools(definitions, taken, { prefix: name, surface: name, admits, maxTools, maxToolBytes });
  for (const { tool, why } of offer.leftOut) onFault("tools", new Error(`the tool ${tool} is not offered: ${why}`));
  return offer;

  async function begin(turning: Promise<Turn>): Promise<void> {
    try {
      const turn = await turning;
      onEnd(() => turn.end());
    } catch (error) {
      onFault("changes", error);
    }
  }

  async function watch(): Promise<void> {
    try {
      onEnd(await session.watch());
    } catch (error) {
      onFault("watch", error);
    }
  }
}
