import { mkdir } from "node:fs/promises";
import { launchChromium } from "../../../shared-canvas/src/headless/browser.ts";
import { createExpectations } from "../../../shared-canvas/src/headless/expectations.ts";
import type { Transcript } from "../../../shared-canvas/src/transcript.ts";
import { startHost } from "../start-host.ts";
import { openBothPages } from "./both-pages.ts";
import { playLineUpScene } from "./line-up-scene.ts";
import { playNextTurnScene } from "./next-turn-scene.ts";
import { playProposalScene } from "./proposal-scene.ts";
import type { Stage } from "./stage.ts";

export interface RunHeadlessOptions {
  /** Directory for pictures; made if it is missing. */
  screenshots: string | undefined;
  transcript: Transcript;
  /** Ends it early. */
  signal: AbortSignal;
}

/** Plays the whole scenario in Chromium. Gives back whether all expectations hold. @throws MissingBrowserError */
export async function runHeadless({ screenshots, transcript, signal }: RunHeadlessOptions): Promise<boolean> {
  const expect = createExpectations(transcript);
  await using stack = new AsyncDisposableStack();
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  signal.addEventListener("abort", () => void browser.close(), { once: true });
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true });
  const faults: string[] = [];
  let stage: Stage | undefined;
  const host = stack.use(
    await startHost({
      port: 0,
      beforeMove: async (move) => stage?.interfere(move),
      onError: (error) => faults.push(String(error)),
    }),
  );
  const pages = await openBothPages({ browser, url: host.pageUrl, screenshots });
  await host.pageConnected();
  transcript.note(`The pages are open in Chromium ${browser.version()}.`);

  stage = { pages, expect, transcript, interfere: async () => undefined };
  await playLineUpScene(stage);
  await playProposalScene(stage);
  await playNextTurnScene(stage);

  transcript.title("Behind the scenes");
  expect.equal("the browser had nothing to complain about, the client no warnings", pages.complaints, []);
  expect.equal("and nothing failed at the endpoint", faults, []);
  transcript.title(`${expect.passed} expectations hold, ${expect.failed} do not`);
  return expect.failed === 0;
}
