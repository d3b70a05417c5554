import { HumanPlusError } from "@human-plus/core";

/** @throws HumanPlusError `invalid_argument` unless the option is absent or a whole number above zero */
export function assertCount(name: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)) return;
  throw invalid(name, "a whole number above 0", value);
}

/** @throws HumanPlusError `invalid_argument` unless the option is absent or has one of these types */
export function assertType(name: string, value: unknown, ...types: ReadonlyArray<"boolean" | "function">): void {
  if (value === undefined || types.some((type) => typeof value === type)) return;
  throw invalid(name, types.map((type) => (type === "function" ? "a function" : "true or false")).join(" or "), value);
}

/** @throws HumanPlusError `invalid_argument` unless the option is absent or one of these words */
export function assertWord(name: string, value: unknown, ...words: readonly string[]): void {
  if (value === undefined || words.includes(value as string)) return;
  throw invalid(name, words.map((word) => JSON.stringify(word)).join(" or "), value);
}

/** What a policy of the host answered. @throws HumanPlusError `invalid_argument` for anything but true and false: a promise is neither */
export function requireFlag(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, "true or false, and at once", value);
}

function invalid(name: string, expected: string, value: unknown): HumanPlusError {
  const got = typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : describe(value);
  return new HumanPlusError("invalid_argument", `${name} should be ${expected}, got ${got}`);
}

function describe(value: unknown): string {
  if (value instanceof Promise) return "a promise";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
