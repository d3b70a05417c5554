import { mkdir } from "node:fs/promises";
import { TrustPolicy } from "@human-plus/core";
import { joinCanvas } from "../agent/join-canvas.ts";
import { startDemoHost } from "../demo-host.ts";
import type { Transcript } from "../transcript.ts";
import { launchChromium } from "./browser.ts";
import { openCanvasPage } from "./canvas-page.ts";
import { playDragScene } from "./drag-scene.ts";
import { createExpectations } from "./expectations.ts";
import { playKeyboardScene } from "./keyboard-scene.ts";
import { playProposalScene } from "./proposal-scene.ts";
import { playReloadScene } from "./reload-scene.ts";
import { playHostileScene, playSecondAgentScene } from "./second-agent-scene.ts";
import type { Stage } from "./stage.ts";
import { playTrustScene } from "./trust-scene.ts";
import { startWireTap } from "./wire-tap.ts";

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
  const host = stack.use(await startDemoHost({ port: 0 }));
  const tap = stack.use(await startWireTap(host.shareLink));
  const canvas = await openCanvasPage({ browser, url: host.pageUrl, screenshots });
  await host.pageConnected();
  transcript.note(`The page is open in Chromium ${browser.version()}.`);

  const stage: Stage = { canvas, tap, expect, transcript };
  await playTrustScene(stage);
  const tidy = stack.use(
    await joinCanvas({ shareLink: tap.shareLink, participant: { name: "Tidy", color: "#3554d1" } }),
  );
  await playDragScene(stage, tidy.session);
  const scout = stack.use(
    await joinCanvas({
      shareLink: tap.shareLink,
      participant: { name: "Scout", color: "#b4451f" },
      trust: TrustPolicy.everyTool(),
    }),
  );
  await playSecondAgentScene(stage, scout.session);
  await playProposalScene(stage, tidy.session, scout.session);
  await playHostileScene(stage, scout.session);
  await playKeyboardScene(stage);
  await playReloadScene(stage, tidy.session);

  transcript.title("The page");
  const { page } = canvas;
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect.holds("the copy button copies the share link", copied === host.shareLink);
  expect.equal("the browser had nothing to complain about", canvas.complaints, []);
  await page.emulateMedia({ colorScheme: "dark" });
  await canvas.screenshot("5-dark");

  transcript.title(`${expect.passed} expectations hold, ${expect.failed} do not`);
  return expect.failed === 0;
}
