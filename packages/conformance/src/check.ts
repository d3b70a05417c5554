import { HumanPlusError } from "@human-plus/core";
import { doesNotHold, type Level, type Outcome, unseen } from "./outcome.ts";
import type { Quoter } from "./quote.ts";

/** One rule of the contract, ready to be held against one party. */
export interface Check {
  /** Stable; for filters and for machines. */
  readonly id: string;
  /** The rule, in words. */
  readonly name: string;
  /** Section of PROTOCOL.md. */
  readonly section: string;
  readonly level: Level;
  /** Looks. Rejects only if the party cannot be reached. May be called again. */
  run(): Promise<Outcome>;
}

/**
 * Checks of one party, in an order that makes sense: an array for `test.each`. Dispose of it to leave the sessions it
 * joined.
 */
export interface CheckList extends ReadonlyArray<Check>, AsyncDisposable {}

/** A check before it is known against whom. */
export interface CheckDefinition<Probe> extends Omit<Check, "run"> {
  readonly run: (probe: Probe) => Outcome | Promise<Outcome>;
}

/** Codes after which nothing can be said about a party. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "relay_unreachable",
  "attachment_unauthorized",
  "surface_unavailable",
  "surface_absent",
  "endpoint_refused",
]);

/** The party cannot be reached, so nothing can be said about it. The message says why, and holds no token. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** What several checks need, or why it cannot be seen: what broke it is told by the check whose matter it is. */
export async function orUnseen<T>(
  needed: Promise<T>,
  judge: (value: T) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  let value: T;
  try {
    value = await needed;
  } catch (error) {
    if (!(error instanceof HumanPlusError) || UNREACHABLE.has(error.code)) throw error;
    return unseen(`what it takes to see it broke off: ${error.message}`);
  }
  return judge(value);
}

export function bindChecks<Probe>(
  definitions: readonly CheckDefinition<Probe>[],
  probe: Probe,
  quoter: Quoter,
  close: () => Promise<void>,
): CheckList {
  const checks = definitions.map(({ run, ...check }) => ({
    ...check,
    run: async () => clean(await attempt(() => run(probe)), quoter),
  }));
  return Object.assign(checks, { [Symbol.asyncDispose]: close });
}

async function attempt(run: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof HumanPlusError && UNREACHABLE.has(error.code))
      throw new UnreachableError(error.message, { cause: error });
    if (error instanceof HumanPlusError) return doesNotHold("an answer as the contract has it", error.message);
    if (error instanceof NoAnswerError) return doesNotHold(error.expected, error.message);
    throw error;
  }
}

/** Something that a check waited for did not come. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  readonly expected: string;

  /** @param received what came instead */
  constructor(received: string, { expected, ...options }: ErrorOptions & { expected: string }) {
    super(received, options);
    this.expected = expected;
  }
}

function clean(outcome: Outcome, { clean: text }: Quoter): Outcome {
  switch (outcome.status) {
    case "holds":
      return outcome.note === undefined ? outcome : { ...outcome, note: text(outcome.note) };
    case "does_not_hold":
      return { ...outcome, expected: text(outcome.expected), received: text(outcome.received) };
    case "unseen":
      return { ...outcome, reason: text(outcome.reason) };
    default:
      return outcome satisfies never;
  }
}
