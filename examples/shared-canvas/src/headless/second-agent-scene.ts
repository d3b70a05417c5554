import type { SurfaceSession } from "@human-plus/core";
import type { Stage } from "./stage.ts";

const HOSTILE = '<img src="/x" onerror="alert(1)">';

/** Another agent joins and writes; people see who is who. */
export async function playSecondAgentScene(
  { canvas, expect, transcript }: Stage,
  scout: SurfaceSession,
): Promise<void> {
  transcript.title("A second agent joins");
  const { page } = canvas;
  const say = (text: string) => transcript.say("Scout", text);
  await scout.call("canvas_read");
  await scout.announce({ action: "Looking up the trains", target: "travel" });
  await scout.call("canvas_edit", { handle: "travel", text: "Night train, Thursday 21:40. Back on Sunday." });
  say("edits Travel");
  await expect.settles("the page lists both agents", page.locator(".participant").nth(2).waitFor());
  await expect.settles("each has its cursor", page.locator(".cursor").nth(1).waitFor());
  await expect.settles("the log tells them apart", canvas.logged("Scout edited Travel"));
}

/** An agent says something hostile. Text stays text, and a person takes it away. */
export async function playHostileScene({ canvas, expect, transcript }: Stage, scout: SurfaceSession): Promise<void> {
  transcript.title("An agent says something hostile");
  const { page } = canvas;
  const say = (text: string) => transcript.say("Scout", text);
  await scout.changesSince();
  await scout.call("canvas_add", { title: HOSTILE, text: HOSTILE, x: 40, y: 520 });
  say("adds a card with markup in it");
  await expect.settles("markup of an agent is shown as text", canvas.card(HOSTILE).waitFor());
  expect.equal("and makes no element", await page.locator("#canvas img, .log img").count(), 0);
  await canvas.card(HOSTILE).hover();
  await canvas.card(HOSTILE).getByRole("button", { name: "Delete" }).click();
  await expect.settles("a person deletes it with a click", canvas.card(HOSTILE).waitFor({ state: "detached" }));
  const rows = (await scout.changesSince()).changes.map(({ kind, actor }) => `${kind} by ${actor}`);
  expect.equal("Scout is told so", rows.at(-1), "deleted by human");
}
