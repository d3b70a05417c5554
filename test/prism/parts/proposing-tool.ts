import type { LiveCanvas } from "../../parts/live-canvas.ts";

/** Offers `canvas_propose`, which writes nothing and proposes to move Budget. */
export function offerProposing({ surface }: LiveCanvas): void {
  surface.tool({
    name: "canvas_propose",
    stage: true,
    handler: (_, call) =>
      void call.propose({ handle: "budget", kind: "moved" }, () => undefined, { summary: "Move it" }),
  });
}
