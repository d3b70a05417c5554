import { HumanPlusError } from "../error.ts";
import type { Issue, Parsed } from "./issue.ts";

/** The value, or the one error that parsers throw: `malformed_message` with its issues. */
export function unwrap<T>(type: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new HumanPlusError("malformed_message", `${type}: ${parsed.issues.map(issueText).join("; ")}`, {
    issues: parsed.issues,
  });
}

export function issueText({ pointer, expected, received }: Issue): string {
  return `${pointer === "" ? "the value" : pointer} should be ${expected}, but is ${received}`;
}
