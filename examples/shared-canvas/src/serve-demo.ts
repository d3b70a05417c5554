import { setTimeout as sleep } from "node:timers/promises";
import { joinCanvas } from "./agent/join-canvas.ts";
import { proposeCleanUp } from "./agent/propose-clean-up.ts";
import { tidyUp } from "./agent/tidy.ts";
import { watchPeople } from "./agent/watch-people.ts";
import { startDemoHost } from "./demo-host.ts";
import type { ServeOptions } from "./run-demo.ts";
import { untilAborted } from "./until-aborted.ts";

/** Slow enough to watch, and to get in the way. */
const PAUSE_MS = 1_800;

/** Serves the page until it is stopped, and lets the agent Tidy in once a browser is there. */
export async function serveDemo({ port, transcript, signal }: ServeOptions): Promise<void> {
  await using host = await startDemoHost({ port });
  transcript.title("Shared canvas");
  transcript.note(`Open this page in a browser:    ${host.pageUrl}`);
  transcript.note(`Share link, for agents:         ${host.shareLink}`);
  transcript.note(`Join from another terminal:     npm run demo -- --join '${host.shareLink}'`);
  transcript.note("Ctrl-C ends it.");
  await untilAborted(signal, async () => {
    await host.pageConnected();
    transcript.title("The page is open. Tidy joins; drag a card while it works.");
    await using agent = await joinCanvas({
      shareLink: host.shareLink,
      participant: { name: "Tidy", color: "#3554d1" },
    });
    const { session } = agent;
    const say = (text: string) => transcript.say("Tidy", text);
    const pause = () => sleep(PAUSE_MS, undefined, { signal });
    await tidyUp({ session, say, pause });
    await pause();
    await proposeCleanUp({ session, say });
    transcript.title("Tidy stays and watches. Ctrl-C ends it.");
    await watchPeople({ session, say: (text) => transcript.say("You", text), signal });
  });
}
