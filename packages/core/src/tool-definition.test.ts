import { expect, test } from "vitest";
import { createToolDefinition, digestOf } from "./tool-definition.ts";

const tool = { name: "surface_write", description: "Write to the surface.", inputSchema: { type: "object" } };

test("the digest is the one other languages' SDKs compute", async () => {
  expect(await digestOf(tool)).toBe("sha256:5ab496568589a2e1901b1b49c27b22bc");
  expect(await createToolDefinition(tool).digest()).toBe("sha256:5ab496568589a2e1901b1b49c27b22bc");
});

test("an absent description is the empty text, an absent schema the empty object, and key order does not count", async () => {
  expect(await digestOf({ name: "a" })).toBe(await digestOf({ name: "a", description: "", inputSchema: {} }));
  const one = await digestOf({ name: "a", inputSchema: { type: "object", title: "t" } });
  expect(one).toBe(await digestOf({ inputSchema: { title: "t", type: "object" }, name: "a" }));
});

test.each([
  ["name", { ...tool, name: "surface_writ" }],
  ["description", { ...tool, description: "Write to the surface" }],
  ["schema", { ...tool, inputSchema: { type: "object", additionalProperties: false } }],
])("another %s is another digest", async (_, other) => {
  expect(await digestOf(other)).not.toBe(await digestOf(tool));
});
