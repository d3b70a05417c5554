// What parsing costs, as ratios within one run. Times of a busy machine say little by themselves, so nothing is asserted.
import { safeParseChangeFeed, safeParseFrame, safeParseFrameText } from "@human-plus/core/protocol";
import { z } from "zod";
import { compare } from "./compare.ts";

// The same checks three times: generated, by hand, and with zod.

function isFrame(value: unknown): boolean {
  if (!isObject(value) || value["jsonrpc"] !== "2.0" || !isShallow(value, 128)) return false;
  const { id, method, params, result, error } = value;
  if (method !== undefined) {
    if (typeof method !== "string" || method.length < 1 || method.length > 128) return false;
    if (result !== undefined || error !== undefined || (params !== undefined && !isObject(params))) return false;
    return id === undefined || isId(id);
  }
  if (error !== undefined) return result === undefined && isObject(error) && (id === null || isId(id));
  return isObject(result) && isId(id);
}

function isId(id: unknown): boolean {
  return typeof id === "string" ? id.length >= 1 && id.length <= 128 : Number.isSafeInteger(id);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((member) => isShallow(member, depth - 1));
  for (const key of Object.keys(value)) {
    if (key === "__proto__" || !isShallow((value as Record<string, unknown>)[key], depth - 1)) return false;
  }
  return true;
}

const id = z.union([z.string().min(1).max(128), z.int()]);
const method = z.string().min(1).max(128);
const jsonrpc = z.literal("2.0");
const anything = z.looseObject({});
const absent = z.undefined().optional();
const zodFrame = z
  .union([
    z.looseObject({ jsonrpc, id, method, params: anything.optional(), result: absent, error: absent }),
    z.looseObject({ jsonrpc, method, params: anything.optional(), id: absent, result: absent, error: absent }),
    z.looseObject({ jsonrpc, id, result: anything, method: absent, error: absent }),
    z.looseObject({ jsonrpc, id: id.nullable(), error: anything, method: absent, result: absent }),
  ])
  .refine((value) => isShallow(value, 128));

const meta = {
  revision: "r-41",
  "human-plus/participant": { id: "agent-9c" },
  progressToken: "0b9f1c52-77c1-4a0e-9d55-1f0c6f2d8a41",
};

function requestWith(argumentsOfCall: object) {
  return {
    jsonrpc: "2.0",
    id: "0b9f1c52-77c1-4a0e-9d55-1f0c6f2d8a41",
    method: "tools/call",
    params: { name: "surface_write", arguments: argumentsOfCall, _meta: meta },
  };
}

const request = requestWith({
  handle: "chart-7",
  text: "Quarterly report, with the numbers of all four regions. ".repeat(11),
  style: { bold: true, size: 14, colour: "#336699" },
});

/** Small objects and next to no text: the walk through them is all there is to do. */
const denseRequest = requestWith({
  rows: Array.from({ length: 20 }, (_, index) => ({ region: `region-${index}`, value: index })),
});

/** A result of a tool whose JSON text has about this many bytes, in parts of the same size. */
function resultOf(bytes: number) {
  const part = (index: number) => ({
    type: "text",
    text: `Row ${index}: the title was changed from "Draft" to "Quarterly report", and the chart below it was moved. `,
  });
  const frame = (parts: number) => ({
    jsonrpc: "2.0",
    id: "0b9f1c52-77c1-4a0e-9d55-1f0c6f2d8a41",
    result: {
      content: Array.from({ length: parts }, (_, index) => part(index)),
      isError: false,
      structuredContent: { handles: ["title", "chart-7"], counts: { changed: 2, moved: 1 } },
      _meta: { revision: "r-42" },
    },
  });
  const empty = JSON.stringify(frame(0)).length;
  const each = JSON.stringify(frame(100)).length / 100;
  return frame(Math.max(1, Math.floor((bytes - empty) / each)));
}

function feedOf(rows: number) {
  return {
    changes: Array.from({ length: rows }, (_, index) => ({
      handle: `node-${index}`,
      change: "edited",
      actor_type: "user",
      actor_id: "u-1",
      label: `Row ${index}`,
      at: "2026-03-01T12:00:00Z",
    })),
    complete: true,
  };
}

interface Line {
  readonly measure: string;
  readonly ratio: number;
  readonly target: string;
  readonly detail: string;
}

const lines: Line[] = [];
const small = { request, result: resultOf(1_024), "dense request": denseRequest };
for (const [name, frame] of Object.entries(small)) {
  if (!safeParseFrame(frame).ok || !isFrame(frame) || !zodFrame.safeParse(frame).success)
    throw new Error(`${name}: all three accept it, or the comparison is not fair`);
  const { time, ratio } = compare({
    generated: () => safeParseFrame(frame),
    hand: () => isFrame(frame),
    zod: () => zodFrame.safeParse(frame),
  });
  const bytes = JSON.stringify(frame).length;
  const detail = `${bytes} bytes: generated ${ns(time.generated)}, hand ${ns(time.hand)}, zod ${ns(time.zod)}`;
  const target = frame === denseRequest ? "" : ">= 5";
  lines.push({ measure: `${name}: zod / generated`, ratio: ratio("zod", "generated"), target, detail });
  lines.push({
    measure: `${name}: generated / hand`,
    ratio: ratio("generated", "hand"),
    target: "<= 2",
    detail: "",
  });
}

const sizes = { small: resultOf(4_096), large: resultOf(262_144) };
const texts = { small: JSON.stringify(sizes.small), large: JSON.stringify(sizes.large) };
const perSize = {
  "text of a frame": compare({
    small: () => safeParseFrameText(texts.small),
    large: () => safeParseFrameText(texts.large),
  }),
  frame: compare({ small: () => safeParseFrame(sizes.small), large: () => safeParseFrame(sizes.large) }),
};
for (const [name, { time, ratio }] of Object.entries(perSize)) {
  const { small, large } = { small: texts.small.length, large: texts.large.length };
  lines.push({
    measure: `${name}: a byte of 256 KiB / of 4 KiB`,
    ratio: (ratio("large", "small") / large) * small,
    target: "<= 1.5",
    detail: `${(time.small / small).toFixed(3)} ns and ${(time.large / large).toFixed(3)} ns a byte`,
  });
}

const feeds = { small: feedOf(100), large: feedOf(10_000) };
const rows = compare({ small: () => safeParseChangeFeed(feeds.small), large: () => safeParseChangeFeed(feeds.large) });
lines.push({
  measure: "change feed: a row of 10,000 / of 100",
  ratio: rows.ratio("large", "small") / 100,
  target: "<= 1.5",
  detail: `${ns(rows.time.small / 100)} and ${ns(rows.time.large / 10_000)} a row`,
});

for (const { measure, ratio, target, detail } of lines) {
  console.log(`${measure.padEnd(46)} ${ratio.toFixed(2).padStart(7)}   ${target.padEnd(7)} ${detail}`.trimEnd());
}

function ns(time: number): string {
  return `${Math.round(time)} ns`;
}
