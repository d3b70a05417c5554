import type { HumanPlusError, OperationOptions, ToolPins } from "@human-plus/core";
import type { OfferedTool } from "./offered-tool.ts";
import { openSurfaceTools, type SurfaceToolsOptions } from "./surface-tools.ts";

/** A surface's tools in the shape of one host, and how they stand. */
export interface LiveToolset<Tool> extends AsyncDisposable {
  /** As last listed, by name. A failed refresh leaves the same array. */
  readonly tools: readonly Tool[];
  /** The surface's name of each tool, by the host's name. Tools of this package are not in it. */
  readonly names: ReadonlyMap<string, string>;
  /** Digests of the surface's own definitions, by its names of the tools: pins for `TrustPolicy`. */
  readonly pins: ToolPins;
  /** The surface said that its tools changed, or a call or a refresh found it out: `refresh` before the next run. */
  readonly stale: boolean;
  /** A definition differs from its pin: every call is refused with this until a refresh finds it as pinned again. */
  readonly disabled: HumanPlusError | undefined;
  /**
   * Lists the tools again, all or nothing.
   *
   * @throws HumanPlusError `closed`, and what opening the set throws
   */
  refresh(options?: OperationOptions): Promise<void>;
  /** Ends calls that run, and refuses others with `closed`. The attachment stays; closing twice does no harm. */
  close(): Promise<void>;
}

/** @throws HumanPlusError what `openSurfaceTools` throws */
export async function openLiveToolset<Tool>(
  options: SurfaceToolsOptions,
  toHost: (tool: OfferedTool) => Tool,
): Promise<LiveToolset<Tool>> {
  const surfaceTools = await openSurfaceTools(options);
  const convert = () => Object.freeze(surfaceTools.offered.map(toHost));
  let tools = convert();
  const close = () => surfaceTools.close();
  return {
    get tools() {
      return tools;
    },
    get names() {
      return surfaceTools.names;
    },
    get pins() {
      return surfaceTools.pins;
    },
    get stale() {
      return surfaceTools.isStale;
    },
    get disabled() {
      return surfaceTools.disabled;
    },
    async refresh(operation) {
      await surfaceTools.refresh(operation);
      tools = convert();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
