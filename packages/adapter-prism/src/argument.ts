import { type HumanPlus, HumanPlusError, type OperationOptions } from "@human-plus/core";

/** @throws HumanPlusError `invalid_argument` that names what is wrong, what was expected and what came */
export type Check = (name: string, value: unknown) => void;

/** A check for each option that there is. Another name is none, and may be one of these written wrongly. */
export type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

/** What says which attachment a function works on. */
export interface AttachmentOptions {
  humanPlus: HumanPlus;
  owner: string;
  attachmentId: string;
}

/** @throws HumanPlusError `invalid_argument` for options of other names too: what was meant to protect somebody would be left out */
export function assertOptions<Options>(what: string, options: unknown, checks: Checks<Options>): void {
  assertObject(`options of ${what}`, options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(checks, name)) continue;
    const expected = Object.keys(checks).join(", ");
    throw new HumanPlusError(
      "invalid_argument",
      `options of ${what} should be some of ${expected}, got ${describe(name)}`,
    );
  }
  for (const [name, check] of Object.entries<Check>(checks)) check(name, (options as Record<string, unknown>)[name]);
}

export function optional(check: Check): Check {
  return (name, value) => {
    if (value !== undefined) check(name, value);
  };
}

export const assertCount: Check = (name, value) => {
  if (!Number.isSafeInteger(value) || (value as number) <= 0) throw invalid(name, "a whole number above 0", value);
};

export const assertFlag: Check = (name, value) => {
  if (typeof value !== "boolean") throw invalid(name, "true or false", value);
};

export const assertFunction: Check = (name, value) => {
  if (typeof value !== "function") throw invalid(name, "a function", value);
};

export const assertText: Check = (name, value) => {
  if (typeof value !== "string" || value.trim() === "") throw invalid(name, "a text", value);
};

export function assertObject(name: string, value: unknown): asserts value is object {
  if (kindOf(value) !== "an object") throw invalid(name, "an object", value);
}

export function assertWord(...words: readonly string[]): Check {
  return (name, value) => {
    const expected = words.map((word) => JSON.stringify(word)).join(" or ");
    if (!words.includes(value as string)) throw invalid(name, expected, value);
  };
}

/** An object of somebody else's, by the methods that are used of it. */
export function assertPart(expected: string, ...methods: readonly string[]): Check {
  return (name, value) => {
    if (kindOf(value) !== "an object") throw invalid(name, expected, value);
    const missing = methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== "function");
    if (missing.length > 0) throw invalid(name, expected, value, ` without ${missing.join(", ")}`);
  };
}

export const attachmentChecks: Checks<AttachmentOptions> = {
  // A session of core has the same methods but for the first of these, and takes neither owner nor id.
  humanPlus: assertPart(
    "a client of createHumanPlus",
    ..."session tools call changesSince turn status watch on".split(" "),
  ),
  owner: assertText,
  attachmentId: assertText,
};

export const operationChecks: Checks<OperationOptions> = {
  signal: optional(assertPart("an AbortSignal", "addEventListener", "throwIfAborted")),
  timeoutMs: optional((name, value) => {
    if (!Number.isFinite(value) || (value as number) <= 0)
      throw invalid(name, "a number of milliseconds above 0", value);
  }),
};

/** What a policy of the host answered. @throws HumanPlusError `invalid_argument` for anything but true and false: a promise is neither */
export function requireFlag(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, "true or false, and at once", value);
}

/** Handles that the host named. @throws HumanPlusError `invalid_argument`: a text alone would be taken for its letters */
export function requireHandles(name: string, value: unknown): string[] {
  const isList = typeof value === "object" && value !== null && Symbol.iterator in value;
  const handles: unknown[] = isList ? [...(value as Iterable<unknown>)] : [undefined];
  if (handles.every((handle) => typeof handle === "string")) return handles;
  throw invalid(name, "a list of handles, and at once", value);
}

export function invalid(name: string, expected: string, value: unknown, more = ""): HumanPlusError {
  return new HumanPlusError("invalid_argument", `${name} should be ${expected}, got ${describe(value)}${more}`);
}

function describe(value: unknown): string {
  if (typeof value !== "string") return kindOf(value);
  return value.length <= 64 ? JSON.stringify(value) : `a text of ${value.length} characters`;
}

function kindOf(value: unknown): string {
  if (value instanceof Promise) return "a promise";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
