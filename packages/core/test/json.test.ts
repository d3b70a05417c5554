import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeParseFrameText } from "../src/frame-text.ts";
import { limits } from "../src/gen/constants.ts";
import { codePoints, fitsBytes, isLonger, isShallow, isShorter, parseJsonText, utf8Length } from "../src/parse/json.ts";

/** Any text, lone surrogates and astral characters among it. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom("\ud83d", "\ude00", "\ud83d\ude00", "a", "é", "€")).map((parts) => parts.join("")),
);

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = "leaf";
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
};

describe("lengths", () => {
  test("utf8Length is what an encoder writes, lone surrogates too", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).length);
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(anyText, fc.integer({ min: 500, max: 600 }), (text, length) => {
        const long = `${text}x`.repeat(length).slice(0, length);
        expect(utf8Length(long)).toBe(Buffer.byteLength(long));
      }),
      { numRuns: 1_000 },
    );
  });

  test("codePoints counts as iteration does", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(codePoints(text)).toBe([...text].length);
      }),
      { numRuns: 3_000 },
    );
  });

  test("isLonger and isShorter compare characters", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: -2, max: 2 }), (text, difference) => {
        const bound = Math.max(0, [...text].length + difference);
        expect(isLonger(text, bound)).toBe([...text].length > bound);
        expect(isShorter(text, bound)).toBe([...text].length < bound);
      }),
      { numRuns: 3_000 },
    );
  });

  test("fitsBytes is exact at the limit", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const bytes = Buffer.byteLength(text);
        expect([fitsBytes(text, bytes), fitsBytes(text, bytes - 1)]).toEqual([true, false]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("fitsBytes measures anything but text as its compact JSON text", () => {
    fc.assert(
      fc.property(
        fc.jsonValue().filter((value) => typeof value !== "string"),
        (value) => {
          const bytes = Buffer.byteLength(JSON.stringify(value));
          expect([fitsBytes(value, bytes), fitsBytes(value, bytes - 1)]).toEqual([true, false]);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("fitsBytes takes nothing that has no JSON text", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const value of [cycle, 1n, undefined, () => 1]) expect(fitsBytes(value, 1_000)).toBe(false);
  });
});

describe("isShallow", () => {
  test.each([
    ["a scalar is 0 deep", 1, 0],
    ["null is 0 deep", null, 0],
    ["an empty object is 1 deep", {}, 1],
    ["an empty list is 1 deep", [], 1],
    ["scalars inside add nothing", { a: [1, "b", null] }, 2],
    ["the deepest branch counts", [{}, [[[]]], 1], 4],
  ] as const)("%s", (_, value, depth) => {
    expect([isShallow(value, depth), isShallow(value, depth - 1)]).toEqual([true, depth === 0]);
  });

  test.each([1, 64, 128])("is exact at %i levels of lists, objects and both", (depth) => {
    for (const wrap of [
      (inner: unknown) => [inner],
      (inner: unknown) => ({ inner }),
      (inner: unknown) => [{ inner }],
    ]) {
      const levels = depth * nestedLevels(wrap);
      expect(isShallow(nested(depth, wrap), levels)).toBe(true);
      expect(isShallow(nested(depth, wrap), levels - 1)).toBe(false);
    }
  });

  test("ends at its limit, however deep the value is", () => {
    expect(
      isShallow(
        nested(1_000_000, (inner) => [inner]),
        64,
      ),
    ).toBe(false);
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(isShallow(cycle, 64)).toBe(false);
  });

  test("refuses the key __proto__ at any depth, and only as a key", () => {
    for (const text of ['{"__proto__":1}', '[{"a":{"__proto__":{}}}]']) {
      expect(isShallow(JSON.parse(text), 10)).toBe(false);
    }
    for (const text of ['{"a":"__proto__"}', '{"constructor":{"prototype":1}}', '{"__proto":1}']) {
      expect(isShallow(JSON.parse(text), 10)).toBe(true);
    }
    expect(isShallow(Object.create({ inherited: [[[]]] }), 1)).toBe(true);
  });
});

function nestedLevels(wrap: (inner: unknown) => unknown): number {
  return Array.isArray(wrap(0)) && typeof (wrap(0) as unknown[])[0] === "object" ? 2 : 1;
}

describe("JSON text", () => {
  test("is measured in bytes before it is parsed", () => {
    expect(parseJsonText('"é"', 4)).toEqual({ ok: true, value: "é", notices: [] });
    expect(parseJsonText('"é"', 3)).toMatchObject({ ok: false, issues: [{ pointer: "", rule: "x-max-bytes" }] });
  });

  test("that is none is refused without a word of it", () => {
    const parsed = parseJsonText('{"token": "tok_live_0123456789"', 1_000);
    expect(parsed).toEqual({
      ok: false,
      issues: [{ pointer: "", rule: "json", expected: "JSON text", received: "text of 31 characters" }],
    });
  });

  test("of a frame may be as large as a frame, to the byte", () => {
    const head = '{"jsonrpc":"2.0","id":1,"result":{"text":"';
    const sized = (bytes: number) => `${head}${"é".repeat((bytes - head.length - 4) / 2)}"}} `;
    expect(Buffer.byteLength(sized(limits.frameBytes))).toBe(limits.frameBytes);
    expect(safeParseFrameText(sized(limits.frameBytes)).ok).toBe(true);
    expect(safeParseFrameText(`${sized(limits.frameBytes)} `)).toMatchObject({ issues: [{ rule: "x-max-bytes" }] });
    expect(safeParseFrameText(sized(1_000), 999).ok).toBe(false);
  });

  test("of something else than a frame is refused", () => {
    for (const text of ["", "null", "[]", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"result":{"__proto__":1}}'])
      expect(safeParseFrameText(text).ok).toBe(false);
  });
});
