import type { Stage } from "./stage.ts";

/** The agent proposes to delete cards. The person accepts one in the chat, rejects one there, and one at the canvas. */
export async function playProposalScene(stage: Stage): Promise<void> {
  const { pages, expect, transcript } = stage;
  transcript.title("A proposal stops the run until the person decides");
  const { canvas, chat } = pages;
  stage.interfere = async ({ step }) => transcript.say("Tidy", step);
  const deletions = () => canvas.locator("#log .line > span").filter({ hasText: "deleted" }).allTextContents();
  const step = (name: string) => chat.locator(".step", { hasText: name });
  const proposal = (title: string) => chat.getByRole("group", { name: `Proposal: Delete ${title}` });

  await pages.ask("Clean up");
  await expect.settles("the chat asks, in the canvas's words", proposal("Old notes").waitFor());
  await expect.settles(
    "and so does the canvas",
    canvas.locator(".proposal", { hasText: "Delete Old notes" }).waitFor(),
  );
  expect.equal("the step waits", (await pages.steps()).at(-1), "Propose to delete Old notes: waits for you");
  expect.equal("nothing is deleted yet", await pages.card("Old notes").count(), 1);
  expect.holds("and nothing else can be asked", await chat.getByRole("button", { name: "Send" }).isDisabled());
  await pages.screenshot("2-proposal");

  transcript.say("You", "try to click Accept by a script");
  await proposal("Old notes")
    .getByRole("button", { name: "Accept" })
    .evaluate((button: HTMLButtonElement) => button.click());
  expect.equal("which decides nothing", await pages.card("Old notes").count(), 1);

  await proposal("Old notes").getByRole("button", { name: "Accept" }).dblclick();
  transcript.say("You", "click Accept in the chat, twice");
  await expect.settles("the card is deleted", pages.card("Old notes").waitFor({ state: "detached" }));
  await expect.settles("Tidy heard of it from the canvas", pages.said("You accepted, so Old notes is deleted."));
  expect.equal("it was deleted once", await deletions(), ["Tidy deleted Old notes"]);
  await expect.settles("the step says so", step("Propose to delete Old notes").getByText("you accepted").waitFor());

  await pages.ask("Delete Packing");
  await proposal("Packing").getByRole("button", { name: "Reject" }).click();
  transcript.say("You", "click Reject in the chat");
  await expect.settles("Tidy says that it stays", pages.said("You rejected it, so Packing stays."));
  await expect.settles("the step says so", step("Propose to delete Packing").getByText("you rejected").waitFor());
  expect.equal("nothing is deleted", await pages.card("Packing").count(), 1);

  await pages.ask("Delete Museums");
  await proposal("Museums").waitFor();
  await canvas.getByRole("button", { name: "Reject: Delete Museums" }).click();
  transcript.say("You", "click Reject at the canvas");
  await expect.settles("the chat goes on by itself", pages.said("You rejected it, so Museums stays."));
  expect.equal("nothing waits any more", await chat.locator(".proposal").count(), 0);
  expect.equal("one card was deleted in all", await deletions(), ["Tidy deleted Old notes"]);
}
