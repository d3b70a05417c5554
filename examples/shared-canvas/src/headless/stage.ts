import type { Transcript } from "../transcript.ts";
import type { CanvasPage } from "./canvas-page.ts";
import type { Expectations } from "./expectations.ts";
import type { WireTap } from "./wire-tap.ts";

/** What every scene of the scenario works with. */
export interface Stage {
  readonly canvas: CanvasPage;
  /** Between the agents and the relay. */
  readonly tap: WireTap;
  readonly expect: Expectations;
  readonly transcript: Transcript;
}

/** The code of the error that a promise rejects with; nothing if it does not. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (error: unknown) => String((error as { code?: unknown }).code ?? error),
  );
}
