import { inspect, isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { HumanPlusError } from "../src/error.ts";
import type { Issue } from "../src/parse/issue.ts";
import { hostileInputs, type Input, secret } from "./contract/hostile-inputs.ts";
import { type ParserPair, parserOf, parsers } from "./contract/parser-table.ts";
import { isNormalising, plainValidator } from "./contract/plain-schema.ts";

const TOTAL = 100_000;
const numRuns = Math.ceil(TOTAL / parsers.length);
const counted = { inputs: 0, accepted: 0 };
const pristine = snapshotOfPrototypes();

describe("parsers, whatever comes in,", () => {
  test.each(parsers)("$name", ({ name }) => {
    const pair = parserOf(name);
    let accepted = 0;
    const property = fc.property(hostileInputs(name), fc.nat(), (input, seed) => {
      counted.inputs++;
      if (holds(pair, input, seed)) accepted++;
    });
    fc.assert(property, { numRuns, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true });
    counted.accepted += accepted;
    expect(accepted / numRuns, "the share of accepted inputs: deep places must be reached").toBeGreaterThan(0.1);
  });

  test("were given enough, and took enough of it", () => {
    expect(counted.inputs).toBeGreaterThanOrEqual(TOTAL);
    expect(counted.accepted / counted.inputs).toBeGreaterThan(0.25);
  });
});

afterAll(() => {
  console.log(`${counted.inputs} inputs, ${Math.round((100 * counted.accepted) / counted.inputs)} % accepted`);
});

/** Everything that is promised about one input. Says whether it was accepted. */
function holds({ name, safeParse, parse }: ParserPair, { value, json }: Input, seed: number): boolean {
  // In strict mode a write to something frozen throws, and safeParse never throws: so nothing wrote.
  deepFreeze(value);
  const parsed = safeParse(value);
  const plain = plainValidator(`/definitions/${name}`);
  if (parsed.ok) {
    if (!plain(parsed.value)) throw new Error(`the output breaks its schema: ${JSON.stringify(plain.errors)}`);
    if (!isNormalising(name) && parsed.value !== value) throw new Error("a checked value is no longer itself");
    const again = safeParse(parsed.value);
    if (!again.ok) throw new Error(`its own output is refused: ${JSON.stringify(again.issues)}`);
    if (!isDeepStrictEqual(again.value, parsed.value)) throw new Error("reading its own output changes it");
    requireBounded(parsed.notices, value);
    if (!isDeepStrictEqual(parse(value), parsed.value)) throw new Error("parse and safeParse differ");
  } else {
    if (parsed.issues.length === 0) throw new Error("refused without a reason");
    if (json && !isNormalising(name) && plain(value)) throw new Error("the schema accepts what was refused");
    requireBounded(parsed.issues, value);
    requireSilentError(() => parse(value));
  }
  if (json) {
    if (!parsed.ok && parsed.issues.some(({ received }) => received === "one that throws"))
      throw new Error("a parser threw, and JSON has nothing that throws");
    const shuffled = safeParse(shuffleKeys(value, seed));
    if (!isDeepStrictEqual(shuffled, parsed)) throw new Error("the order of keys matters");
  }
  if (!isDeepStrictEqual(snapshotOfPrototypes(), pristine)) throw new Error("a prototype was changed");
  return parsed.ok;
}

function requireBounded(issues: readonly Issue[], input: unknown): void {
  if (issues.length > 16) throw new Error(`${issues.length} issues`);
  for (const { pointer, rule, expected, received } of issues) {
    if (pointer.length > 256) throw new Error(`a pointer of ${pointer.length} characters`);
    if (rule.length > 64 || expected.length > 1_024 || received.length > 64) throw new Error("an issue without bounds");
  }
  requireSilent(JSON.stringify(issues));
  const text = issues.map(({ pointer, expected, received }) => `${pointer} ${expected} ${received}`).join(" ");
  for (const part of longTexts(input)) if (text.includes(part)) throw new Error("an issue shows the input");
}

function requireSilentError(refuse: () => unknown): void {
  try {
    refuse();
  } catch (error) {
    if (!(error instanceof HumanPlusError)) throw new Error("parse threw another error", { cause: error });
    if (error.code !== "malformed_message" || error.issues.length === 0) throw error;
    requireSilent(`${error.stack} ${JSON.stringify(error)} ${inspect(error, { depth: 9 })}`);
    return;
  }
  throw new Error("parse took what safeParse refused");
}

function requireSilent(text: string): void {
  if (text.includes(secret)) throw new Error(`the secret is shown: ${text}`);
}

function* longTexts(value: unknown): Generator<string> {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" && next.length > 64) yield next.slice(0, 65);
    if (typeof next === "object" && next !== null)
      for (const [key, member] of Object.entries(next)) open.push(key, member);
  }
}

function deepFreeze(value: unknown): void {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null || ArrayBuffer.isView(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) open.push(member);
  }
}

function shuffleKeys(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((member) => shuffleKeys(member, seed));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, shuffleKeys(member, seed)] as const);
  let state = seed + entries.length;
  for (let index = entries.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % (index + 1);
    const moved = entries[index] as (typeof entries)[number];
    entries[index] = entries[other] as (typeof entries)[number];
    entries[other] = moved;
  }
  return Object.fromEntries(entries);
}

function snapshotOfPrototypes(): Array<Array<string | symbol>> {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype].map((prototype) =>
    Reflect.ownKeys(prototype),
  );
}
