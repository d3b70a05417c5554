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

type OptionType = "boolean" | "function" | "string";

const typeWords: Readonly<Record<OptionType, string>> = {
  boolean: "true or false",
  function: "a function",
  string: "a text",
};

/** For options that may be left out. @throws HumanPlusError `invalid_argument` for anything else of another type */
export function requireType(name: string, value: unknown, type: OptionType): void {
  if (value === undefined || typeof value === type) return;
  throw invalidArgument(`${name} should be ${typeWords[type]}, is ${describeValue(value)}`);
}

/** For objects with options in them. @throws HumanPlusError `invalid_argument` */
export function requireOptions(name: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw invalidArgument(`${name} should be an object with options, is ${describeValue(value)}`);
}

/** @param rest what is left of options once the known ones are taken. @throws HumanPlusError `invalid_argument` */
export function refuseUnknown(name: string, rest: object): void {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw invalidArgument(`${name} should hold no ${describeValue(unknown)}: there is no such option`);
}

export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}...` : value);
  if (typeof value === "number" || typeof value === "boolean" || value === undefined || value === null)
    return String(value);
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
