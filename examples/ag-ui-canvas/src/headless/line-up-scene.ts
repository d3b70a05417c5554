import type { Stage } from "./stage.ts";

/** Card that a person drags after the agent has read the canvas, and before it writes. */
const DRAGGED = { handle: "budget", title: "Budget" } as const;
/** Card that a person still holds when the agent writes. */
const HELD = { handle: "weather", title: "Weather" } as const;

/** Asked in the chat, the agent lines up the cards; the person drags one and holds another one meanwhile. */
export async function playLineUpScene(stage: Stage): Promise<void> {
  const { pages, expect, transcript } = stage;
  transcript.title("Asked in the chat, Tidy works on the canvas, and a person interferes");
  const { page, canvas, chat } = pages;
  let dropped: { x: number; y: number } | undefined;
  let isHolding = false;
  stage.interfere = async ({ step, target }) => {
    if (isHolding) {
      isHolding = false;
      await page.mouse.up();
      transcript.say("You", `let go of ${HELD.title}`);
    }
    transcript.say("Tidy", step);
    if (target === DRAGGED.handle) {
      await pages.drag(DRAGGED.title, { dx: 150, dy: 232 });
      transcript.say("You", `drag ${DRAGGED.title} away, with the mouse`);
      dropped = await pages.position(DRAGGED.title);
    }
    if (target === HELD.handle) {
      await pages.pickUp(HELD.title, { dx: 26, dy: 82 });
      isHolding = true;
      transcript.say("You", `pick up ${HELD.title}, and hold it`);
    }
    if (target === "travel") await expect.settles("the chat shows the step at work", working(step));
  };
  const working = (step: string) => chat.locator(".step-working", { hasText: step }).waitFor();

  await pages.ask("Line up the cards");
  await expect.settles(
    "Tidy says what it did, and what it left alone",
    pages.said("Done. I lined up 6 cards, and left where you put it: Budget, Weather."),
  );
  const steps = await pages.steps();
  const moves = steps.filter((step) => step.startsWith("Move "));
  expect.equal("the chat shows each move, and how it ended", moves, [
    "Move Travel: done",
    "Move Budget: refused, nothing written",
    "Move Museums: done",
    "Move Dinner: done",
    "Move Markets: done",
    "Move Weather: refused, nothing written",
    "Move Old notes: done",
    "Move Packing: done",
  ]);
  // Word of the card that was let go may come a step later: Tidy looks again then, which does no harm.
  const looks = ["Ask what changed: done", "Read the canvas: done"];
  const afterRefusals = steps.flatMap((step, at) => (/: refused/.test(step) ? [steps.slice(at + 1, at + 3)] : []));
  expect.equal("and after each refusal what Tidy looked at", afterRefusals, [looks, looks]);
  expect.equal("the dragged card lies where the person put it", await pages.position(DRAGGED.title), dropped);
  const log = canvas.locator("#log .line > span");
  await expect.settles("the canvas lists Tidy", canvas.locator(".participant", { hasText: "Tidy" }).waitFor());
  await expect.settles(
    "and says why it was refused",
    log.getByText("Refused: you moved Budget while Tidy was working").waitFor(),
  );
  const activity = chat.locator("#activity li");
  await expect.settles(
    "the surface's activity shows it in the chat",
    activity.getByText("Refused, nothing written: Tidy would have moved budget, but you moved Budget").waitFor(),
  );
  await expect.settles("and what Tidy did", activity.getByText("Tidy moved packing").waitFor());
  await page.mouse.move(5, 5);
  await pages.screenshot("1-lined-up");
}
