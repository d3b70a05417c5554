import type { Stage } from "./stage.ts";

/** Everything that a pointer does can be done by keys. */
export async function playKeyboardScene({ canvas, expect, transcript }: Stage): Promise<void> {
  transcript.title("By keyboard");
  const { page } = canvas;
  const { keyboard } = page;
  await canvas.card("Dinner").focus();
  const before = await canvas.position("Dinner");
  await keyboard.press("ArrowRight");
  await keyboard.press("Shift+ArrowDown");
  const after = await canvas.position("Dinner");
  const moved = before && after && { x: after.x - before.x, y: after.y - before.y };
  expect.equal("arrow keys move a card", moved, { x: 8, y: 40 });

  await keyboard.press("Enter");
  await keyboard.type("Late dinner");
  await keyboard.press("Enter");
  await expect.settles("Enter edits it", canvas.logged("You edited Late dinner"));
  expect.equal("the focus is back on the card", await focusedCard(), "Late dinner");

  await keyboard.press("Delete");
  await expect.settles("Delete deletes it", canvas.card("Late dinner").waitFor({ state: "detached" }));
  expect.holds("the focus is on another card", (await focusedCard()) !== undefined);
  await keyboard.press("Control+z");
  await expect.settles("Ctrl Z brings it back", canvas.card("Late dinner").waitFor());

  await keyboard.press("n");
  await keyboard.type("Tickets");
  await keyboard.press("Enter");
  await expect.settles("N adds a card", canvas.card("Tickets").waitFor());

  async function focusedCard(): Promise<string | undefined> {
    const title = page.locator(".card:focus .title");
    return (await title.count()) === 1 ? ((await title.textContent()) ?? undefined) : undefined;
  }
}
