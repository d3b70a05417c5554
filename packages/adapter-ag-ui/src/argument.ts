import { HumanPlusError } from "@human-plus/core";

/** @param what the member, what was expected and what came */
export function invalidArgument(what: string): HumanPlusError {
  return new HumanPlusError("invalid_argument", what);
}

export interface IntegerBounds {
  readonly min: number;
  readonly max: number;
}

/** @throws HumanPlusError `invalid_argument` */
export function requireInteger(name: string, value: unknown, { min, max }: IntegerBounds): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw invalidArgument(`${name} should be a whole number from ${min} to ${max}, is ${describeValue(value)}`);
}

/** @throws HumanPlusError `invalid_argument` */
export function requireMatch(name: string, value: unknown, pattern: RegExp): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw invalidArgument(`${name} should match ${pattern.source}, is ${describeValue(value)}`);
}

export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}...` : value);
  if (typeof value === "number" || typeof value === "boolean" || value === undefined || value === null)
    return String(value);
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
