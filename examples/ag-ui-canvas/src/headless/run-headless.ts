import { type PlayOptions, type Props, play } from "../../../shared-canvas/src/headless/play.ts";
import { startHost } from "../start-host.ts";
import { openBothPages } from "./both-pages.ts";
import { playLineUpScene } from "./line-up-scene.ts";
import { playNextTurnScene } from "./next-turn-scene.ts";
import { playProposalScene } from "./proposal-scene.ts";
import type { Stage } from "./stage.ts";

/** Plays the whole scenario in Chromium. Gives back whether all expectations hold. @throws MissingBrowserError */
export function runHeadless(options: PlayOptions): Promise<boolean> {
  return play(options, (props) => playScenes(options, props));
}

async function playScenes({ screenshots, transcript }: PlayOptions, { browser, expect, stack }: Props): Promise<void> {
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
}
