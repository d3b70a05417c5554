import type { SurfaceSession } from "@human-plus/core";
import { readCanvas } from "../agent/canvas-reading.ts";
import { codeOf, type Stage } from "./stage.ts";

/** A person loads the page again: nothing is lost, and what an agent read of the page before is out of date. */
export async function playReloadScene({ canvas, expect, transcript }: Stage, tidy: SurfaceSession): Promise<void> {
  transcript.title("The page is loaded again");
  const { page } = canvas;
  const before = await canvas.position("Budget");
  await readCanvas(tidy);
  await page.reload();
  await expect.settles("agents can reach it again", page.getByText("Open to agents").waitFor());
  expect.equal("the cards lie where they lay", await canvas.position("Budget"), before);
  const write = () => tidy.call("canvas_move", { handle: "packing", x: 40, y: 40 });
  expect.equal("a write that rests on the page before is refused", await codeOf(write()), "surface_changed_under_you");
  await readCanvas(tidy);
  expect.equal("after a fresh reading it is not", await codeOf(write()), undefined);
}
