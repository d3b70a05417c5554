import fc from "fast-check";
import jsonPatch, { type Operation } from "fast-json-patch";
import { describe, expect, test } from "vitest";
import type { AgUiJson, AgUiPatchOperation } from "../src/events.ts";
import { applyPatch, diffJson, readPatch } from "../src/json-patch.ts";

const bounds = { maxJsonDepth: 16, maxJsonProperties: 128, maxJsonArrayItems: 512 };

/** What clients of AG-UI make of a patch, all of which use this package. */
function atClient(document: AgUiJson, patch: readonly AgUiPatchOperation[]): { next?: unknown } {
  try {
    return { next: jsonPatch.applyPatch(document, structuredClone(patch) as Operation[], true, false).newDocument };
  } catch {
    return {};
  }
}

// Few keys and short lists, so that pointers meet something.
const key = fc.constantFrom("a", "b", "~", "/", "~1", "0", "");
const { document } = fc.letrec<{ document: AgUiJson }>((tie) => ({
  document: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<AgUiJson>(null, true, 0, 1, "x", ""),
    fc.array(tie("document"), { maxLength: 3 }),
    fc.dictionary(key, tie("document"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const token = fc.constantFrom("a", "b", "~0", "~1", "~01", "0", "1", "2", "3", "-", "01", "");
const pointer = fc.array(token, { maxLength: 3 }).map((tokens) => tokens.map((one) => `/${one}`).join(""));
const operation: fc.Arbitrary<AgUiPatchOperation> = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace", "test"), path: pointer, value: document }),
  fc.record({ op: fc.constant("remove"), path: pointer }),
  fc.record({ op: fc.constantFrom("move", "copy"), from: pointer, path: pointer }),
);

describe("a patch", () => {
  test("that applies here applies at clients, and leads to the same document", () => {
    const seen = { applied: 0, refused: 0 };
    fc.assert(
      fc.property(document, fc.array(operation, { maxLength: 4 }), (before, patch) => {
        const kept = structuredClone(before);
        const next = applyPatch(before, patch);
        expect(before).toEqual(kept);
        seen[next === undefined ? "refused" : "applied"] += 1;
        if (next !== undefined) expect(atClient(before, patch)).toEqual({ next });
      }),
      { numRuns: 20_000 },
    );
    expect(Math.min(seen.applied, seen.refused)).toBeGreaterThan(1_000);
  });

  test("that is made of two documents is one that can be read, and leads from one to the other, also at clients", () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = diffJson(before, after);
        expect(readPatch(patch, patch.length, bounds)).toEqual(patch);
        expect(applyPatch(before, patch)).toEqual(after);
        expect(atClient(before, patch)).toEqual({ next: after });
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("what RFC 6902 forbids", () => {
  test.each<[string, AgUiPatchOperation]>([
    ["an index with a zero before it", { op: "add", path: "/list/01", value: 1 }],
    ["an index behind the end", { op: "add", path: "/list/3", value: 1 }],
    ["a member of what has none", { op: "add", path: "/list/0/x", value: 1 }],
    ["to remove what is not there", { op: "remove", path: "/list/-" }],
    ["to replace what is not there", { op: "replace", path: "/none", value: 1 }],
    ["a move into itself", { op: "move", from: "/list/0", path: "/list/0/x" }],
    ["a copy of nothing", { op: "copy", from: "/none", path: "/list/-" }],
    ["a test of another value", { op: "test", path: "/list/0", value: 2 }],
  ])("does not apply: %s", (_, one) => {
    const document = { list: [1, { x: 2 }] };
    expect(applyPatch(document, [{ op: "add", path: "/seen", value: true }, one])).toBeUndefined();
    expect(document).toEqual({ list: [1, { x: 2 }] });
  });
});

describe("what is no patch", () => {
  test.each([
    ["an operation alone", { op: "remove", path: "/a" }],
    ["an operation of no kind", [{ op: "set", path: "/a", value: 1 }]],
    ["a value that is absent", [{ op: "add", path: "/a" }]],
    ["a place that is none", [{ op: "remove", path: "a" }]],
    ["an escape that is none", [{ op: "remove", path: "/a~2" }]],
    ["a source that is absent", [{ op: "move", path: "/a" }]],
    ["a prototype", [{ op: "add", path: "/__proto__/x", value: 1 }]],
    ["a constructor as the source", [{ op: "copy", from: "/constructor", path: "/a" }]],
    ["one operation too many", Array.from({ length: 3 }, () => ({ op: "remove", path: "/a" }))],
  ])("is not read: %s", (_, patch) => {
    expect(readPatch(patch, 2, bounds)).toBeUndefined();
  });
});
