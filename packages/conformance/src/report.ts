import { contractVersion } from "@human-plus/core/protocol";
import type { Check } from "./check.ts";
import type { Level, Outcome } from "./outcome.ts";

/** One check and what it saw. */
export type CheckResult = Pick<Check, "id" | "name" | "section" | "level"> & {
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
} & Outcome;

/** What a run over one party saw. It is plain data, and holds no token. */
export interface Report {
  readonly subject: "surface" | "relay";
  /** Whom: the relay base URL, for a surface with its session. */
  readonly target: string;
  /** How frames of a surface came; absent for relays, which are spoken to in every way they offer. */
  readonly transport: string | undefined;
  /** The version of the contract that was held against it. */
  readonly contract: string;
  /** When it began, as ISO 8601. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** In the order of the checks. */
  readonly results: readonly CheckResult[];
  readonly counts: { readonly holds: number; readonly doesNotHold: number; readonly unseen: number };
  /** Nothing was seen that does not hold. It says nothing about what cannot be seen. */
  readonly ok: boolean;
}

export interface RunOptions {
  /** Checks that run at a time. @default 1 */
  concurrency?: number | undefined;
  /** Leaves out checks of a weaker level. @default "optional", all of them */
  level?: Level | undefined;
  /** Told of each result as it comes. @default nobody */
  onResult?: ((result: CheckResult) => void) | undefined;
}

const LEVELS: readonly Level[] = ["must", "should", "optional"];

/** Runs checks and gathers what they saw. Rejects with what the first of them rejects with. */
export async function runChecks(
  checks: readonly Check[],
  subject: Pick<Report, "subject" | "target" | "transport">,
  { concurrency = 1, level = "optional", onResult }: RunOptions = {},
): Promise<Report> {
  const startedAt = new Date().toISOString();
  const started = performance.now();
  const chosen = checks.filter((check) => LEVELS.indexOf(check.level) <= LEVELS.indexOf(level));
  const results = new Array<CheckResult>(chosen.length);
  const queue = chosen.entries();

  async function work(): Promise<void> {
    for (const [index, { run, ...check }] of queue) {
      const begun = performance.now();
      const outcome = await run();
      const result = { ...check, durationMs: Math.round(performance.now() - begun), ...outcome };
      results[index] = result;
      onResult?.(result);
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, chosen.length) }, work));
  const count = (status: Outcome["status"]) => results.filter((result) => result.status === status).length;
  const counts = { holds: count("holds"), doesNotHold: count("does_not_hold"), unseen: count("unseen") };
  return {
    ...subject,
    contract: contractVersion,
    startedAt,
    durationMs: Math.round(performance.now() - started),
    results,
    counts,
    ok: counts.doesNotHold === 0,
  };
}

/** What a test throws for a rule that does not hold. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
}

/**
 * For tests: passes if the rule holds or cannot be seen from outside.
 *
 * @throws ConformanceError naming the rule, its section, what was expected and what came
 */
export async function assertHolds({ run, name, section, level }: Check): Promise<Outcome> {
  const outcome = await run();
  if (outcome.status !== "does_not_hold") return outcome;
  throw new ConformanceError(
    `${name} (PROTOCOL.md section ${section}, ${level})\nexpected: ${outcome.expected}\nreceived: ${outcome.received}`,
  );
}
