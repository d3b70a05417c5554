import { HumanPlusError } from "@human-plus/core";

/** @throws HumanPlusError `invalid_argument` unless the option is absent or a whole number above zero */
export function assertCount(name: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)) return;
  throw new HumanPlusError("invalid_argument", `${name} should be a whole number above 0, got ${String(value)}`);
}
