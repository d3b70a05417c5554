import type { SurfaceSession } from "@human-plus/core";
import { proposeCleanUp } from "../agent/propose-clean-up.ts";
import { codeOf, type Stage } from "./stage.ts";

/** Names under which an agent could hope to find a way to decide by itself. */
const DECIDING_NAMES = [
  "accept",
  "approve",
  "confirm",
  "reject",
  "deny",
  "canvas_accept",
  "canvas_delete_confirm",
  "canvas.approve",
  "proposals:accept",
  "proposal-approve",
  "proposalAccept",
  "CANVAS_ACCEPT",
  "canvas_accept\u200b",
  "canvas_decide",
];

/** Tidy proposes to delete a card. No tool accepts that; a click does. */
export async function playProposalScene(
  { canvas, tap, expect, transcript }: Stage,
  tidy: SurfaceSession,
  scout: SurfaceSession,
): Promise<void> {
  transcript.title("A proposal waits for a person");
  const { page } = canvas;
  await proposeCleanUp({ session: tidy, say: (text) => transcript.say("Tidy", text) });
  const proposal = page.locator(".proposal", { hasText: "Delete Old notes" });
  await expect.settles("the page shows it", proposal.waitFor());
  await canvas.screenshot("4-proposal");

  const before = tap.sent().length;
  const codes: (string | undefined)[] = [];
  for (const name of DECIDING_NAMES) codes.push(await codeOf(scout.call(name)));
  transcript.say("Scout", `trusts every tool, and tries ${DECIDING_NAMES.length} names to accept it`);
  expect.equal(
    "every one is refused",
    codes,
    DECIDING_NAMES.map(() => "tool_refused"),
  );
  expect.equal("locally: the relay saw nothing of it", tap.sent().length - before, 0);
  expect.equal("the card is still there", await canvas.card("Old notes").count(), 1);

  await proposal.getByRole("button", { name: "Accept" }).click();
  transcript.say("You", "click Accept");
  await expect.settles("a click deletes the card", canvas.card("Old notes").waitFor({ state: "detached" }));
  await expect.settles("the log says who decided", canvas.logged("You accepted: delete Old notes"));
  const { changes } = await tidy.changesSince();
  const rows = changes.map(({ handle, kind, actor }) => `${handle} ${kind} ${actor}`);
  expect.holds("Tidy learns that its own proposal was written", rows.includes("old-notes deleted agent"), rows);

  await tidy.call("canvas_delete", { handle: "packing" });
  transcript.say("Tidy", "proposes to delete Packing, too");
  const second = page.locator(".proposal", { hasText: "Delete Packing" });
  await second.getByRole("button", { name: "Reject" }).click();
  transcript.say("You", "click Reject");
  await expect.settles("a rejected proposal goes away", second.waitFor({ state: "detached" }));
  expect.equal("and its card stays", await canvas.card("Packing").count(), 1);
}
