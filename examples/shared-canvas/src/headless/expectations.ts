import { isDeepStrictEqual } from "node:util";
import type { Transcript } from "../transcript.ts";

/** Collects what was expected and what came. */
export interface Expectations {
  /** The value is the expected one, to the last part. */
  equal(what: string, actual: unknown, expected: unknown): void;
  /** The condition holds; what came is shown where it does not. */
  holds(what: string, condition: boolean, actual?: unknown): void;
  /** The promise settles; how it fails is shown where it does not. */
  settles(what: string, promise: Promise<unknown>): Promise<void>;
  readonly passed: number;
  readonly failed: number;
}

export function createExpectations(transcript: Transcript): Expectations {
  let passed = 0;
  let failed = 0;

  function record(what: string, isMet: boolean, detail: () => string): void {
    if (isMet) passed++;
    else failed++;
    transcript.note(isMet ? `ok      ${what}` : `FAILED  ${what}: ${detail()}`);
  }

  return {
    equal: (what, actual, expected) =>
      record(what, isDeepStrictEqual(actual, expected), () => `expected ${show(expected)}, and it was ${show(actual)}`),
    holds: (what, condition, actual) => record(what, condition, () => `it was ${show(actual)}`),
    async settles(what, promise) {
      const error: unknown = await promise.then(
        () => undefined,
        (reason) => reason ?? "rejected",
      );
      record(what, error === undefined, () => String(error).slice(0, 400));
    },
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
  };
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 400);
}
