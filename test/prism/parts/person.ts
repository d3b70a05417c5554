import type { LiveCanvas } from "../../parts/live-canvas.ts";
import type { PrismAgent } from "./prism-agent.ts";

/** A person drags a card in steps, and the agent's process has heard of each. */
export async function personDrags(
  canvas: LiveCanvas,
  { humanPlus }: Pick<PrismAgent, "humanPlus">,
  steps = 1,
): Promise<void> {
  for (let step = 1; step <= steps; step++) {
    const heard = new Promise<void>((resolve) => {
      const stop = humanPlus.on("personActed", () => {
        stop();
        resolve();
      });
    });
    canvas.personMoves("budget", step, step);
    await heard;
  }
}
