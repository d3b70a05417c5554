import { describe, expect, test } from "vitest";
import { HumanPlusError } from "../src/error.ts";
import { limits } from "../src/gen/constants.ts";
import {
  parseFrame,
  safeParseCallToolResult,
  safeParseChangeFeed,
  safeParseChangeFeedToolName,
  safeParseChangeKind,
  safeParseChangeRow,
  safeParseFrame,
  safeParseListToolsResult,
  safeParseOutboxPollBody,
  safeParsePinnedDefinition,
  safeParsePollBody,
  safeParseRevisionReading,
  safeParseRpcError,
} from "../src/gen/parsers.ts";
import type { Issue, Parsed } from "../src/parse/issue.ts";
import { objectReader, safeParse } from "../src/parse/reader.ts";

function accepted<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(`refused: ${JSON.stringify(parsed.issues)}`);
  return parsed.value;
}

function noticesOf(parsed: Parsed<unknown>): readonly Issue[] {
  if (!parsed.ok) throw new Error(`refused: ${JSON.stringify(parsed.issues)}`);
  return parsed.notices;
}

const frame = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const row = { handle: "title", kind: "updated", actor: "human" };
const overLong = "r".repeat(limits.revisionBytes + 1);

describe("candidates of a property", () => {
  test("are tried in the order of the contract, whatever the order of the keys", () => {
    const revision = (input: unknown) => accepted(safeParseRevisionReading(input)).revision;
    const all = { etag: "e", version: "v", surface_revision: "s_r", surfaceRevision: "sR", revision: "r" };
    expect(revision(all)).toBe("r");
    expect(revision({ ...all, revision: undefined })).toBe("sR");
    expect(revision({ etag: "e", version: "v", surface_revision: "s_r" })).toBe("s_r");
    expect(revision({ etag: "e", version: "v" })).toBe("v");
    expect(revision({ etag: "e" })).toBe("e");
  });

  test("are looked up in _meta first, key by key", () => {
    const revision = (input: unknown) => accepted(safeParseRevisionReading(input)).revision;
    expect(revision({ revision: "top", _meta: { revision: "meta" } })).toBe("meta");
    expect(revision({ revision: "top", _meta: { etag: "meta" } })).toBe("top");
    expect(revision({ revision: "top", _meta: "no object" })).toBe("top");
    expect(revision({ revision: "top", _meta: { revision: true } })).toBe("top");
  });

  test("that cannot be read give way to the next one", () => {
    expect(accepted(safeParseRevisionReading({ revision: true, surfaceRevision: 1.5, version: " ", etag: 7 }))).toEqual(
      {
        revision: "7",
      },
    );
    expect(accepted(safeParseChangeRow({ ...row, change: "polished", action: "deleted" })).kind).toBe("deleted");
    expect(accepted(safeParseChangeRow({ ...row, change: "polished", kind: "shiny" })).kind).toBe("unknown");
  });

  test("that are too long end the search with a notice", () => {
    const parsed = safeParseRevisionReading({ revision: overLong, etag: "e" });
    expect(accepted(parsed)).toEqual({});
    expect(noticesOf(parsed)).toEqual([
      {
        pointer: "/revision",
        rule: "x-max-bytes",
        expected: "at most 512 bytes",
        received: "text of 513 characters",
      },
    ]);
  });

  test("that are there decide, readable or not, where the contract says present", () => {
    const complete = (input: object) => accepted(safeParseChangeFeed({ changes: [], ...input })).complete;
    expect(complete({})).toBe(true);
    expect(complete({ complete: false, is_complete: true })).toBe(false);
    expect(complete({ complete: "yes", is_complete: true })).toBe(false);
    expect(complete({ complete: null })).toBe(false);
    expect(complete({ is_complete: true, complete: undefined })).toBe(true);
    expect(accepted(safeParseCallToolResult({ isError: "no" })).isError).toBe(true);
  });

  test("that count inverted come after all others", () => {
    const complete = (input: object) => accepted(safeParseChangeFeed({ changes: [], ...input })).complete;
    expect(complete({ partial: true })).toBe(false);
    expect(complete({ truncated: false })).toBe(true);
    expect(complete({ partial: true, isComplete: true })).toBe(true);
    expect(complete({ partial: "a little", truncated: false })).toBe(false);
  });

  test("refuse the whole where the first present one is unreadable and nothing says what that means", () => {
    const parsed = safeParsePinnedDefinition({ name: "write", description: 5 });
    expect(parsed).toMatchObject({ ok: false, issues: [{ pointer: "/description", rule: "type" }] });
  });

  test("are own members only", () => {
    const inherited = Object.create({ revision: "inherited" });
    expect(accepted(safeParseRevisionReading(inherited))).toEqual({});
    expect(accepted(safeParseRpcError({ code: 1, data: ["conflict"] })).conflict).toBe("none");
  });

  test("under a path are found in nested members", () => {
    expect(accepted(safeParseRpcError({ code: -32000, data: { code: " Revision_Mismatch " } })).conflict).toBe("stale");
    expect(accepted(safeParseRpcError({ code: -32000, data: { reason: 409 } })).conflict).toBe("stale");
    expect(accepted(safeParseRpcError({ code: -32000, data: { status: 409 } })).conflict).toBe("none");
  });
});

describe("text", () => {
  const revision = (input: unknown) => accepted(safeParseRevisionReading({ revision: input })).revision;

  test("comes from safe integers as decimal text, and from no other number or boolean", () => {
    expect(revision(JSON.parse("1.0"))).toBe("1");
    expect(revision(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991");
    expect(revision(-0)).toBe("0");
    for (const unreadable of [Number.MAX_SAFE_INTEGER + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, true, null, {}])
      expect(revision(unreadable)).toBeUndefined();
  });

  test("is trimmed only where the contract says so", () => {
    expect(revision(" \u00a0r-1\ufeff\n")).toBe("r-1");
    expect(accepted(safeParseChangeRow({ ...row, handle: " title " })).handle).toBe(" title ");
    expect(safeParseChangeRow({ ...row, handle: " \t" }).ok).toBe(false);
  });

  test("is compared with a vocabulary trimmed and in any case", () => {
    expect(accepted(safeParseChangeKind(" CREATE\n"))).toBe("created");
    expect(accepted(safeParseChangeKind("creat"))).toBe("unknown");
    expect(accepted(safeParseChangeKind(7))).toBe("unknown");
    expect(safeParseChangeKind(null).ok).toBe(false);
    expect(accepted(safeParseChangeFeedToolName("What_Changed"))).toBe("what_changed");
    expect(safeParseChangeFeedToolName(" changes").ok).toBe(false);
  });

  test("names of object members are no words of a vocabulary", () => {
    for (const word of ["constructor", "__proto__", "toString", "hasOwnProperty"])
      expect(accepted(safeParseChangeKind(word))).toBe("unknown");
  });
});

describe("a list", () => {
  test("leaves out what it cannot read, counts it, and says where it stood", () => {
    const parsed = safeParseChangeFeed({ changes: [row, { kind: "created" }, row, "title"] });
    expect(accepted(parsed)).toEqual({ changes: [row, row], complete: true, unreadable: 2 });
    expect(noticesOf(parsed).map(({ pointer, rule }) => [pointer, rule])).toEqual([
      ["/changes/1/handle", "required"],
      ["/changes/3", "type"],
    ]);
  });

  test("adds to the count that came", () => {
    expect(accepted(safeParseChangeFeed({ changes: [1], unreadable: 3 })).unreadable).toBe(4);
    expect(accepted(safeParseChangeFeed({ changes: [1], unreadable: -3 })).unreadable).toBe(1);
    expect(accepted(safeParseChangeFeed({ changes: [1], unreadable: Number.MAX_SAFE_INTEGER })).unreadable).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });

  test("is the first candidate that is a list; each one before it that is none counts", () => {
    const parsed = safeParseChangeFeed({ _meta: { changes: "many" }, changes: { a: 1 }, items: [row], events: [] });
    expect(accepted(parsed)).toMatchObject({ changes: [], unreadable: 2 });
    expect(noticesOf(parsed).map(({ pointer }) => pointer)).toEqual(["/_meta/changes", "/changes"]);
  });

  test("that is missing counts only where its absence says nothing", () => {
    expect(accepted(safeParseChangeFeed({}))).toEqual({ changes: [], complete: true, unreadable: 1 });
    expect(accepted(safeParseListToolsResult({}))).toEqual({ tools: [], unreadable: 1 });
    expect(accepted(safeParsePollBody({}))).toEqual({ frames: [], gap: false, unreadable: 0 });
    expect(accepted(safeParseCallToolResult({}))).toEqual({ content: [], isError: false, unreadable: 0 });
  });

  test("ends at its limit, and counts what lies beyond", () => {
    const tools = Array.from({ length: limits.tools + 2 }, (_, index) => ({ name: `tool-${index}` }));
    const parsed = safeParseListToolsResult({ tools });
    expect(accepted(parsed).tools).toHaveLength(limits.tools);
    expect(accepted(parsed).unreadable).toBe(2);
    expect(noticesOf(parsed)).toMatchObject([{ pointer: "/tools", rule: "maxItems" }]);
  });

  test("tells of at most sixteen elements, and counts them all", () => {
    const parsed = safeParseChangeFeed({ changes: Array.from({ length: 100 }, () => null) });
    expect(noticesOf(parsed)).toHaveLength(16);
    expect(accepted(parsed).unreadable).toBe(100);
  });

  test("may hold its elements as JSON texts", () => {
    const text = JSON.stringify(frame);
    const parsed = safeParsePollBody({ frames: [frame, text, "{", JSON.stringify(text), `${text}${text}`] });
    expect(accepted(parsed)).toMatchObject({ frames: [frame, frame], unreadable: 3 });
    expect(noticesOf(parsed).map(({ pointer, rule }) => [pointer, rule])).toEqual([
      ["/frames/2", "json"],
      ["/frames/3", "type"],
      ["/frames/4", "json"],
    ]);
  });

  test("takes no JSON text that is larger than a frame may be", () => {
    const padded = (bytes: number) => JSON.stringify(frame).padEnd(bytes, " ");
    const parsed = safeParsePollBody({ frames: [padded(limits.frameBytes), padded(limits.frameBytes + 1)] });
    expect(accepted(parsed)).toMatchObject({ frames: [frame], unreadable: 1 });
    expect(noticesOf(parsed)).toMatchObject([{ pointer: "/frames/1", rule: "x-max-bytes" }]);
  });
});

describe("an input that is no object yet", () => {
  test("is wrapped: a list of frames, or one frame", () => {
    const expected = { frames: [frame], gap: false, unreadable: 0 };
    expect(accepted(safeParseOutboxPollBody([frame]))).toEqual(expected);
    expect(accepted(safeParseOutboxPollBody(frame))).toEqual(expected);
    expect(accepted(safeParseOutboxPollBody({ frames: [frame] }))).toEqual(expected);
  });

  test("is one frame as soon as it has the key, whatever else it holds", () => {
    const parsed = safeParseOutboxPollBody({ jsonrpc: "1.0", frames: [frame] });
    expect(accepted(parsed)).toEqual({ frames: [], gap: false, unreadable: 1 });
  });

  test("is refused where the contract wraps nothing", () => {
    expect(safeParsePollBody([frame]).ok).toBe(false);
    expect(safeParseOutboxPollBody("[]").ok).toBe(false);
  });
});

describe("a frame", () => {
  test("is told by the keys it has; a member that is undefined is none", () => {
    const notification = { jsonrpc: "2.0", method: "ping", id: undefined, result: undefined };
    expect(accepted(safeParseFrame(notification))).toBe(notification);
    expect(safeParseFrame({ ...notification, id: null }).ok).toBe(false);
    expect(safeParseFrame(Object.create(notification)).ok).toBe(false);
  });

  test("that is refused is judged as what its keys make it", () => {
    const pointerOf = (input: object) => {
      const parsed = safeParseFrame({ jsonrpc: "2.0", ...input });
      return parsed.ok ? "accepted" : parsed.issues[0]?.pointer;
    };
    expect(pointerOf({ id: 1, method: "" })).toBe("/method");
    expect(pointerOf({ method: "ping", params: [] })).toBe("/params");
    expect(pointerOf({ id: 1, error: "failed" })).toBe("/error");
    expect(pointerOf({ id: 1 })).toBe("/result");
    expect(pointerOf({ id: 1.5, result: {} })).toBe("/id");
    expect(pointerOf({ id: 1, result: {}, method: "ping" })).toBe("/result");
  });
});

describe("what comes out", () => {
  test("shares no default with another result", () => {
    const first = accepted(safeParsePinnedDefinition({ name: "write" }));
    first.inputSchema["type"] = "object";
    expect(accepted(safeParsePinnedDefinition({ name: "write" })).inputSchema).toEqual({});
    accepted(safeParsePollBody({})).frames.push(frame as never);
    expect(accepted(safeParsePollBody({})).frames).toEqual([]);
  });

  test("holds the named members only", () => {
    expect(Object.keys(accepted(safeParseChangeRow({ ...row, actor_id: "u-1", extra: 1 })))).toEqual([
      "handle",
      "kind",
      "actor",
    ]);
  });

  test("lists of issues are not shared between results", () => {
    expect(Object.isFrozen(noticesOf(safeParseChangeRow(row)))).toBe(true);
    expect(noticesOf(safeParseChangeFeed({ changes: [1] }))).toHaveLength(1);
    expect(noticesOf(safeParseChangeFeed({ changes: [] }))).toHaveLength(0);
  });
});

describe("notices of nested values", () => {
  const isShort = (value: unknown): boolean => typeof value === "string" && value.length <= 3;
  const check = Object.assign(
    (value: unknown): boolean => {
      check.errors = isShort(value) ? null : [{ instancePath: "", keyword: "maxLength", params: { limit: 3 } }];
      return isShort(value);
    },
    {} as { errors: Array<{ instancePath: string; keyword: string; params: object }> | null },
  );
  const inner = objectReader([{ name: "label", required: false, from: [["label"]], check: check as never }]);
  const notice = { rule: "maxLength", expected: "at most 3 characters", received: "text of 4 characters" };

  test("reach the result through a member", () => {
    const outer = objectReader([{ name: "inner", required: true, from: [["inner"]], read: inner }]);
    expect(safeParse(outer, { inner: { label: "long" } })).toEqual({
      ok: true,
      value: { inner: {} },
      notices: [{ pointer: "/inner/label", ...notice }],
    });
  });

  test("reach the result through an element of a list that stays", () => {
    const outer = objectReader([
      { name: "rows", required: true, from: [["rows"]], list: { item: inner, maxItems: 10, counter: "unreadable" } },
      { name: "unreadable", required: true, from: [["unreadable"]], otherwise: 0 },
    ]);
    expect(safeParse(outer, { rows: [{ label: "abc" }, { label: "long" }] })).toEqual({
      ok: true,
      value: { rows: [{ label: "abc" }, {}], unreadable: 0 },
      notices: [{ pointer: "/rows/1/label", ...notice }],
    });
  });
});

describe("issues", () => {
  test("name the place, the rule, what was expected and what came, never the text that came", () => {
    const secret = "tok_live_0123456789abcdef";
    const parsed = safeParsePinnedDefinition({ name: { secret }, description: secret, inputSchema: secret });
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed)).not.toContain(secret);
  });
});

describe("a value that throws when it is read", () => {
  const getter = Object.defineProperty({ jsonrpc: "2.0", method: "ping" }, "id", {
    enumerable: true,
    get: () => {
      throw new Error("tok_live_0123456789abcdef");
    },
  });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  test.each([
    ["by a getter", getter],
    ["by a getter deep inside", { jsonrpc: "2.0", id: 1, result: { list: [getter] } }],
    ["as a revoked proxy", revoked.proxy],
  ])("%s is refused", (_, value) => {
    const issue = { pointer: "", rule: "type", expected: "a value that can be read", received: "one that throws" };
    expect(safeParseFrame(value)).toEqual({ ok: false, issues: [issue] });
    expect(safeParseOutboxPollBody({ frames: [value] })).toEqual({ ok: false, issues: [issue] });
    expect(() => parseFrame(value)).toThrow(HumanPlusError);
  });
});
