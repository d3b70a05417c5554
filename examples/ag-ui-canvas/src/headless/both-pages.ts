import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import { atRest } from "../../../shared-canvas/src/headless/at-rest.ts";
import type { OpenPageOptions } from "../../../shared-canvas/src/headless/canvas-page.ts";
import { type CardHand, createCardHand } from "../../../shared-canvas/src/headless/card-hand.ts";
import { listenToComplaints } from "../../../shared-canvas/src/headless/complaints.ts";

/** Canvas and chat side by side in a real browser, as a person sees and uses them. */
export interface BothPages extends CardHand {
  readonly page: Page;
  readonly canvas: FrameLocator;
  readonly chat: FrameLocator;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
  /** Types a message, and sends it by Enter. */
  ask(text: string): Promise<void>;
  /** Settles when the agent has said it. */
  said(text: string | RegExp): Promise<void>;
  /** Steps in the chat since the person's last message, and how each one stands. */
  steps(): Promise<string[]>;
  /** Writes a picture, once nothing moves any more. */
  screenshot(name: string): Promise<void>;
}

export async function openBothPages({ browser, url, screenshots }: OpenPageOptions): Promise<BothPages> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 780 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints = listenToComplaints(page);
  await page.goto(url);
  const canvas = page.frameLocator("iframe[title=Canvas]");
  const chat = page.frameLocator("iframe[title=Chat]");
  return {
    page,
    canvas,
    chat,
    complaints,
    ...createCardHand(page, canvas),
    async ask(text) {
      await chat.getByLabel("Message to Tidy").click();
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await chat.locator(".person", { hasText: text }).last().waitFor();
    },
    async said(text) {
      await chat.locator(".agent").filter({ hasText: text }).last().waitFor();
    },
    steps: () =>
      chat.locator("#log").evaluate((log) => {
        const rows = [...log.children];
        const asked = rows.findLastIndex(({ className }) => className === "person");
        return rows
          .slice(asked + 1)
          .filter((row) => row.classList.contains("step"))
          .map((row) => [...row.querySelectorAll("summary span")].map(({ textContent }) => textContent).join(": "));
      }),
    async screenshot(name) {
      if (screenshots === undefined) return;
      await atRest(canvas.locator("body"));
      await page.screenshot({ path: join(screenshots, `${name}.png`) });
    },
  };
}
