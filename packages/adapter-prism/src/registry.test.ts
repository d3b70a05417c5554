import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "./host.ts";
import { createSurfaceRegistry } from "./registry.ts";

const tool = (name: string, description = ""): ToolDefinition => ({
  name,
  description,
  execute: (_, { toolCallId }) => ({ toolCallId, name, value: description }),
});

describe("a registry that follows a surface", () => {
  test("shows a refresh to the next run, and nothing of it to the run that goes on", () => {
    let tools = [tool("read", "old"), tool("gone")];
    const registry = createSurfaceRegistry(() => tools);
    expect(registry.list().map(({ name }) => name)).toEqual(["read", "gone"]);
    tools = [tool("read", "new"), tool("added")];
    expect(registry.get("read")?.description).toBe("old");
    expect(registry.get("gone")).toBeDefined();
    expect(registry.get("added")).toBeUndefined();
    expect(registry.list().map(({ name }) => name)).toEqual(["read", "added"]);
    expect(registry.resolve("read").description).toBe("new");
  });

  test("says what it was given in place of a tool", () => {
    const registry = createSurfaceRegistry(() => []);
    for (const [wrong, got] of [
      [undefined, "undefined"],
      [{ name: "read" }, "an object without execute"],
    ])
      expect(() => registry.register(wrong as never)).toThrow(
        expect.objectContaining({
          code: "invalid_argument",
          message: `tool should be a tool of the host, got ${got}`,
        }),
      );
  });

  test("still finds what a run beside it was shown", () => {
    let tools = [tool("gone")];
    const registry = createSurfaceRegistry(() => tools);
    registry.list();
    tools = [];
    expect(registry.list()).toEqual([]);
    expect(registry.get("gone")).toBeDefined();
  });

  test("forgets the oldest definitions of a surface that has ever new ones", () => {
    let tools: ToolDefinition[] = [];
    const registry = createSurfaceRegistry(() => tools);
    for (let n = 0; n < 1002; n++) {
      tools = [tool(`t${n}`)];
      registry.list();
    }
    expect(registry.get("t0")).toBeUndefined();
    expect(registry.get("t1")).toBeDefined();
  });

  test("finds tools before the first run", () => {
    expect(createSurfaceRegistry(() => [tool("read")]).resolve("read").name).toBe("read");
  });

  test("takes the host's own tools, whose names no surface can take", () => {
    let tools = [tool("read")];
    const registry = createSurfaceRegistry(() => tools);
    registry.register(tool("mine", "own"));
    tools = [tool("read"), tool("mine", "the surface's")];
    expect(registry.list().map(({ name }) => name)).toEqual(["mine", "read"]);
    expect(registry.resolve("mine").description).toBe("own");
    expect(() => registry.register(tool("read"))).toThrow("Duplicate tool: read");
    expect(() => registry.resolve("none")).toThrow("Unknown tool: none");
  });
});
