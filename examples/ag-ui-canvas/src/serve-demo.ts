import { setTimeout as sleep } from "node:timers/promises";
import { describeError, type ServeOptions } from "../../shared-canvas/src/run-demo.ts";
import { untilAborted } from "../../shared-canvas/src/until-aborted.ts";
import { startHost } from "./start-host.ts";

/** Slow enough to watch, and to get in the way. */
const PAUSE_MS = 1_800;

/** Serves the pages and the agent's endpoint until it is stopped. */
export async function serveDemo({ port, transcript, signal }: ServeOptions): Promise<void> {
  const { title, note } = transcript;
  await using host = await startHost({
    port,
    beforeMove: () => sleep(PAUSE_MS, undefined, { signal }),
    onError: (error) => note(`! ${describeError(error)}`),
  });
  title("Shared canvas, with a chat");
  note(`Open this page in a browser:            ${host.pageUrl}`);
  note(`Or canvas and chat in windows apart:    ${host.pageUrl}canvas`);
  note(`                                        ${host.pageUrl}chat`);
  note("Ask Tidy to line up the cards, and drag one while it works. Ctrl-C ends it.");
  await untilAborted(signal, () => new Promise(() => undefined));
}
