import { setTimeout as sleep } from "node:timers/promises";
import { readCanvas } from "./agent/canvas-reading.ts";
import { freeSlots } from "./agent/free-slots.ts";
import { joinCanvas } from "./agent/join-canvas.ts";
import { tidyUp } from "./agent/tidy.ts";
import type { DemoContext } from "./run-demo.ts";
import { untilAborted } from "./until-aborted.ts";

export interface JoinPageOptions extends DemoContext {
  shareLink: string;
  name: string;
  color: string;
}

const PAUSE_MS = 1_200;

/** Joins a page that runs already: lines up what nobody else has touched, and leaves a card with its name. */
export async function joinPage({ shareLink, name, color, transcript, signal }: JoinPageOptions): Promise<void> {
  await using agent = await joinCanvas({ shareLink, participant: { name, color } });
  const { session } = agent;
  await untilAborted(signal, async () => {
    const say = (text: string) => transcript.say(name, text);
    const pause = () => sleep(PAUSE_MS, undefined, { signal });
    await tidyUp({ session, say, pause });
    const canvas = await readCanvas(session);
    const [slot] = freeSlots(canvas, canvas.cards);
    if (slot === undefined) return;
    await session.call("canvas_add", { title: `Hello from ${name}`, text: "Drag me, edit me, delete me.", ...slot });
    say("leaves a card");
  });
}
