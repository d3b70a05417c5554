import type { Registry, Tool } from "./shapes.ts";

/** A registry as the host makes it. It has no unregister: one that follows something brings its own. */
export function createToolRegistry(
  tools: readonly Tool[] = [],
  { duplicate = "replace" }: { duplicate?: "replace" | "error" } = {},
): Registry {
  const byName = new Map<string, Tool>();
  const registry: Registry = {
    register(tool) {
      if (duplicate === "error" && byName.has(tool.name)) throw new Error(`Duplicate tool: ${tool.name}`);
      byName.set(tool.name, tool);
    },
    get: (name) => byName.get(name),
    resolve(name) {
      const tool = byName.get(name);
      if (tool === undefined) throw new Error(`Unknown tool: ${name}`);
      return tool;
    },
    list: () => [...byName.values()],
  };
  for (const tool of tools) registry.register(tool);
  return registry;
}

/** Tools as an agent's configuration gives them: of two with one name the provider is sent both, and the last is called. */
export function toRegistry(tools: readonly Tool[] | Registry): Registry {
  if ("resolve" in tools) return tools;
  return { ...createToolRegistry(tools), list: () => [...tools] };
}
