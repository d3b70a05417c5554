import { HumanPlusError } from "./error.ts";
import type { Parsed } from "./parse/issue.ts";
import { issueText } from "./parse/unwrap.ts";

/** The value of an argument, or `invalid_argument` that names it, what it should be and what came. */
export function argument<T>(name: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw invalidArgument(`${name}: ${parsed.issues.map(issueText).join("; ")}`, parsed.issues);
}

export function invalidArgument(message: string, issues: HumanPlusError["issues"] = []): HumanPlusError {
  return new HumanPlusError("invalid_argument", message, { issues });
}
