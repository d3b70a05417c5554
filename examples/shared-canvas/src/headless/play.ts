import { mkdir } from "node:fs/promises";
import type { Browser } from "playwright-core";
import type { DemoContext } from "../run-demo.ts";
import { launchChromium } from "./browser.ts";
import { createExpectations, type Expectations } from "./expectations.ts";

export interface PlayOptions extends DemoContext {
  /** Directory for pictures; made if it is missing. */
  screenshots: string | undefined;
}

/** What a scenario begins with. */
export interface Props {
  readonly browser: Browser;
  readonly expect: Expectations;
  /** Ends with the scenario, before the browser does. */
  readonly stack: AsyncDisposableStack;
}

/** Plays a scenario in Chromium. Gives back whether all expectations hold. @throws MissingBrowserError */
export async function play(
  { screenshots, transcript, signal }: PlayOptions,
  scenario: (props: Props) => Promise<void>,
): Promise<boolean> {
  const expect = createExpectations(transcript);
  await using stack = new AsyncDisposableStack();
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  signal.addEventListener("abort", () => void browser.close(), { once: true });
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true });
  await scenario({ browser, expect, stack });
  transcript.title(`${expect.passed} expectations hold, ${expect.failed} do not`);
  return expect.failed === 0;
}
