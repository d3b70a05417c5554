import {
  createSurfaceToolset,
  type SurfaceToolset,
  type SurfaceToolsetOptions,
  type ToolExecutionContext,
  type ToolResult,
} from "@human-plus/adapter-prism";
import type { AttachOptions, HumanPlus, HumanPlusOptions } from "@human-plus/core";
import { TrustPolicy } from "@human-plus/core";

/** A surface on a relay, as the tests have them. */
interface Joinable {
  readonly invitation: AttachOptions["invitation"];
  createClient(options?: Partial<HumanPlusOptions>): HumanPlus;
}

export interface AttachedToolset {
  readonly humanPlus: HumanPlus;
  readonly attachmentId: string;
  readonly toolset: SurfaceToolset;
  /** Calls a tool by the surface's name of it, or by the host's. */
  execute(tool: string, args?: object, context?: Partial<ToolExecutionContext>): Promise<ToolResult>;
}

export type AttachedToolsetOptions = Partial<SurfaceToolsetOptions> &
  Pick<Partial<AttachOptions>, "trust"> &
  Pick<HumanPlusOptions, "store">;

/** Attaches to a surface and lists its tools. */
export async function attachToolset(
  surface: Joinable,
  { trust = TrustPolicy.everyTool(), store, ...options }: AttachedToolsetOptions = {},
): Promise<AttachedToolset> {
  const humanPlus = surface.createClient({ store });
  const { id: attachmentId } = await humanPlus.attach({
    owner: "me",
    invitation: surface.invitation,
    participant: { name: "Tidy" },
    trust,
  });
  const toolset = await createSurfaceToolset({ humanPlus, owner: "me", attachmentId, ...options });
  const nameOf = (tool: string) => [...toolset.names].find(([, own]) => own === tool)?.[0] ?? tool;
  return {
    humanPlus,
    attachmentId,
    toolset,
    execute: async (tool, args = {}, context = {}) =>
      toolset
        .registry()
        .resolve(nameOf(tool))
        .execute(args as Record<string, never>, { sessionId: "s", runId: "r", toolCallId: "call-1", ...context }),
  };
}
