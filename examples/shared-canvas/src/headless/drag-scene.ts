import type { SurfaceSession } from "@human-plus/core";
import type { ReadCard } from "../agent/canvas-reading.ts";
import { tidyUp } from "../agent/tidy.ts";
import { createBetweenTurns, MOVED } from "./between-turns.ts";
import type { Stage } from "./stage.ts";

/** Card that a person drags after the agent has read the canvas, and before it writes. */
const DRAGGED = { handle: "budget", title: "Budget" } as const;
/** Card that a person still holds when the agent writes. */
const HELD = { handle: "weather", title: "Weather" } as const;

/**
 * Tidy lines up the cards; a person drags one between two of its turns, drags another one in the middle of a turn, and
 * holds a third one, with a real mouse.
 */
export async function playDragScene(stage: Stage, session: SurfaceSession): Promise<void> {
  const { canvas, expect, transcript } = stage;
  transcript.title("Tidy joins, and a person interferes");
  const { page } = canvas;
  let dropped: { x: number; y: number } | undefined;
  let isFirst = true;
  let isHolding = false;
  const betweenTurns = createBetweenTurns(stage, session);

  const report = await tidyUp({
    session,
    say(text) {
      transcript.say("Tidy", text);
      betweenTurns.hear(text);
    },
    pause: async () => undefined,
    betweenTurns: betweenTurns.act,
    async beforeMove({ handle, title }: ReadCard) {
      if (isHolding) {
        isHolding = false;
        await page.mouse.up();
        transcript.say("You", `let go of ${HELD.title}`);
      }
      if (isFirst) {
        isFirst = false;
        await lookAtPresence(title);
      }
      await betweenTurns.insist();
      if (handle === DRAGGED.handle) {
        await canvas.drag(DRAGGED.title, { dx: 150, dy: 232 });
        transcript.say("You", `drag ${DRAGGED.title} away, with the mouse`);
        dropped = await canvas.position(DRAGGED.title);
        await canvas.screenshot("2-dragged");
      }
      if (handle === HELD.handle) {
        await canvas.pickUp(HELD.title, { dx: 26, dy: 82 });
        isHolding = true;
        transcript.say("You", `pick up ${HELD.title}, and hold it`);
      }
    },
  });
  if (isHolding) await page.mouse.up();

  await betweenTurns.check();
  const refused = report.refusals.map(({ code, outcome }) => ({ code, outcome }));
  const stale = { code: "surface_changed_under_you", outcome: "not_applied" };
  expect.equal("both moves were refused, and nothing was written", refused, [stale, stale]);
  const rows = report.reports.map(({ deferTo }) =>
    deferTo.map(({ handle, kind, actor }) => `${handle} ${kind} ${actor}`),
  );
  expect.equal("the turn after each move names the card, moved by a human", rows, [
    [`${MOVED.handle} moved human`],
    [`${DRAGGED.handle} moved human`],
    [`${HELD.handle} moved human`],
    [`${HELD.handle} moved human`],
  ]);
  expect.equal("the dragged card lies where the person put it", await canvas.position(DRAGGED.title), dropped);
  expect.equal("the agent went on around them", report.moved.toSorted(), [
    "dinner",
    "markets",
    "old-notes",
    "packing",
    "travel",
  ]);
  expect.equal("and left alone what was not its own", report.leftAlone, [MOVED.handle, DRAGGED.handle, HELD.handle]);
  await expect.settles(
    "the page says why, in plain words",
    canvas.logged(`Refused: you moved ${DRAGGED.title} while Tidy was working`),
  );
  await expect.settles("and what was done", canvas.logged("Tidy moved Travel"));
  await page.mouse.move(5, 5);
  await canvas.screenshot("3-refused");

  async function lookAtPresence(title: string): Promise<void> {
    const tidy = page.locator(".participant", { hasText: "Tidy" });
    await expect.settles("the page lists Tidy among the participants", tidy.waitFor());
    await expect.settles("with what it does", tidy.getByText(`Moving ${title}`).waitFor());
    const cursor = page.locator(".cursor", { hasText: "Tidy" });
    await expect.settles("its cursor is there, with its name", cursor.waitFor());
    await canvas.screenshot("1-presence");
    const [at, card] = [await cursor.boundingBox(), await canvas.card(title).boundingBox()];
    const isAtCard =
      at !== null && card !== null && Math.abs(at.x - card.x) <= card.width && Math.abs(at.y - card.y) <= card.height;
    expect.holds(`the cursor is at ${title}`, isAtCard, { at, card });
  }
}
