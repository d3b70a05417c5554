import { TrustPolicy } from "@human-plus/core";
import { joinCanvas } from "../agent/join-canvas.ts";
import { startDemoHost } from "../demo-host.ts";
import { openCanvasPage } from "./canvas-page.ts";
import { playDragScene } from "./drag-scene.ts";
import { playKeyboardScene } from "./keyboard-scene.ts";
import { type PlayOptions, type Props, play } from "./play.ts";
import { playProposalScene } from "./proposal-scene.ts";
import { playReloadScene } from "./reload-scene.ts";
import { playHostileScene, playSecondAgentScene } from "./second-agent-scene.ts";
import type { Stage } from "./stage.ts";
import { playTrustScene } from "./trust-scene.ts";
import { startWireTap } from "./wire-tap.ts";

/** Plays the whole scenario in Chromium. Gives back whether all expectations hold. @throws MissingBrowserError */
export function runHeadless(options: PlayOptions): Promise<boolean> {
  return play(options, (props) => playScenes(options, props));
}

async function playScenes({ screenshots, transcript }: PlayOptions, { browser, expect, stack }: Props): Promise<void> {
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
}
