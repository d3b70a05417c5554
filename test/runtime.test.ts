import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

test("scripts run on the repository's own Node 24", () => {
  expect(
    process.versions.node,
    "an optional dependency that fails to install is skipped in silence: is node-<platform>-<arch> in node_modules?",
  ).toMatch(/^24\./);
});

test("names of packages resolve to their sources", () => {
  const resolved = new URL(import.meta.resolve("@human-plus/core/protocol"));
  expect(resolved.pathname).toMatch(/packages\/core\/src\/protocol\.ts$/);
  expect(existsSync(join(import.meta.dirname, "../packages/core/src/protocol.ts"))).toBe(true);
});
