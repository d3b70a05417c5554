import type { Stage } from "./stage.ts";

/** The same thread goes on: what the person did between two turns, the agent leaves alone; and a run can be stopped. */
export async function playNextTurnScene(stage: Stage): Promise<void> {
  const { pages, expect, transcript } = stage;
  transcript.title("The next turn of the same conversation");
  const { page } = pages;
  await pages.drag("Dinner", { dx: 60, dy: 150 });
  transcript.say("You", "drag Dinner between two turns");
  const put = await pages.position("Dinner");
  stage.interfere = async ({ step }) => transcript.say("Tidy", step);
  await pages.ask("Line up the cards");
  await expect.settles("Tidy leaves alone what you moved", pages.said(/left where you put it: .*Dinner/));
  expect.equal("and the card lies where you put it", await pages.position("Dinner"), put);
  const steps = await pages.steps();
  expect.holds("its call was not even sent", steps.includes("Move Dinner: refused, nothing written"), steps);

  await playStop(stage);
  await page.emulateMedia({ colorScheme: "dark" });
  await pages.screenshot("3-dark");
}

/** Stops a run at the moment before its call. */
async function playStop(stage: Stage): Promise<void> {
  const { pages, expect, transcript } = stage;
  const { canvas, chat } = pages;
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  stage.interfere = async ({ step, target }) => {
    transcript.say("Tidy", step);
    if (target === undefined) return;
    reach();
    await released;
  };
  await pages.ask("Delete Markets");
  await reached;
  await chat.getByRole("button", { name: "Stop" }).click();
  transcript.say("You", "click Stop");
  await expect.settles("a run can be stopped", chat.locator(".fault", { hasText: "Stopped." }).waitFor());
  release();
  stage.interfere = async ({ step }) => transcript.say("Tidy", step);
  await pages.ask("What can you do?");
  await expect.settles("the conversation goes on", pages.said("I can line up the cards"));
  const step = chat.locator(".step", { hasText: "Propose to delete Markets" });
  await expect.settles("the step says that it was stopped", step.getByText("stopped").waitFor());
  expect.equal("and nothing was proposed afterwards", await canvas.locator(".proposal").count(), 0);
}
