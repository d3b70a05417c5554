import { assertPart } from "./argument.ts";
import type { ToolDefinition, ToolRegistry } from "./host.ts";

/** Definitions of earlier runs that are still found by their names. */
const MAX_RETIRED = 1000;
const assertTool = assertPart("a tool of the host", "execute");

/**
 * A registry of the host that follows a set of tools. A host reads it with `list` at the start of a run, and looks names up
 * while the run goes on: what the last `list` gave stays what `get` and `resolve` find, whatever is refreshed meanwhile.
 * What an earlier `list` gave is found too, for runs beside each other; the surface refuses what it no longer offers.
 */
export function createSurfaceRegistry(current: () => readonly ToolDefinition[]): ToolRegistry {
  const own = new Map<string, ToolDefinition>();
  const retired = new Map<string, ToolDefinition>();
  let frozen: ReadonlyMap<string, ToolDefinition> | undefined;

  const byName = (): Map<string, ToolDefinition> => {
    const found = new Map(own);
    // What a host registered itself keeps its name: a surface must not take its place.
    for (const tool of current()) if (!found.has(tool.name)) found.set(tool.name, tool);
    return found;
  };
  const get = (name: string): ToolDefinition | undefined =>
    own.get(name) ?? (frozen ?? byName()).get(name) ?? retired.get(name);
  return {
    register(tool) {
      assertTool("tool", tool);
      if (get(tool.name) !== undefined) throw new Error(`Duplicate tool: ${tool.name}`);
      own.set(tool.name, tool);
    },
    get,
    resolve(name) {
      const tool = get(name);
      if (tool === undefined) throw new Error(`Unknown tool: ${name}`);
      return tool;
    },
    list() {
      for (const [name, tool] of frozen ?? []) {
        retired.delete(name);
        retired.set(name, tool);
      }
      for (const name of retired.keys()) {
        if (retired.size <= MAX_RETIRED) break;
        retired.delete(name);
      }
      frozen = byName();
      return [...frozen.values()];
    },
  };
}
