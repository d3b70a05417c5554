import { describe, expect, test } from "vitest";
import { isDeclared, refusalOf, TrustPolicy } from "./trust-policy.ts";

describe("trust", () => {
  test.each([
    ["undeclared", TrustPolicy.undeclared, false],
    ["an empty allow-list", TrustPolicy.allowing([]), false],
    ["an allow-list", TrustPolicy.allowing(["canvas_read"]), true],
    ["every tool", TrustPolicy.everyTool(), true],
  ])("%s is declared: %o", (_, trust, declared) => {
    expect(isDeclared(trust)).toBe(declared);
  });

  test.each([
    "confirm",
    "Confirm",
    "terminal.confirm",
    "terminalConfirm",
    "a:APPROVE",
    "x-deny",
    "plan_reject",
    "HTTPAccept",
    "\u200bconfirm",
    "confirm\ufeff",
  ])("%j belongs to people under every trust level", (name) => {
    expect(refusalOf(TrustPolicy.everyTool(), name)).toBeDefined();
    expect(() => TrustPolicy.allowing([name])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  test.each(["preconfirm", "confirmation_status", "canvas_move", "denying", "a".repeat(128)])(
    "%s is an ordinary name",
    (name) => {
      expect(refusalOf(TrustPolicy.everyTool(), name)).toBeUndefined();
    },
  );

  test.each(["", " canvas", "саnvas_read", "canvas read", "a".repeat(129), ".hidden", "ｃanvas", 5, null])(
    "%j is no usable name",
    (name) => {
      expect(refusalOf(TrustPolicy.everyTool(), name)).toBeDefined();
    },
  );

  test("an allow-list lets its own tools pass and no other", () => {
    const trust = TrustPolicy.allowing(["canvas_read"]);
    expect(refusalOf(trust, "canvas_read")).toBeUndefined();
    expect(refusalOf(trust, "canvas_write")).toBeDefined();
    expect(refusalOf(trust, "CANVAS_READ")).toBeDefined();
  });

  test("a pin that is no digest, or pins no usable name, is named", () => {
    expect(() => TrustPolicy.everyTool({ pins: { canvas_read: "abc" } })).toThrow(/pins\.canvas_read/);
    expect(() => TrustPolicy.everyTool({ pins: { "no name": `sha256:${"0".repeat(32)}` } })).toThrow(/pins/);
  });

  test("a policy is plain data that survives JSON", () => {
    const trust = TrustPolicy.allowing(["canvas_read"], { pins: { canvas_read: `sha256:${"0".repeat(32)}` } });
    expect(JSON.parse(JSON.stringify(trust))).toEqual({
      kind: "allowing",
      tools: ["canvas_read"],
      pins: { canvas_read: `sha256:${"0".repeat(32)}` },
    });
  });
});
