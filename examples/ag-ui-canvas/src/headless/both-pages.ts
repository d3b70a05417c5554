import { join } from "node:path";
import type { Browser, FrameLocator, Locator, Page } from "playwright-core";

/** Canvas and chat side by side in a real browser, as a person sees and uses them. */
export interface BothPages {
  readonly page: Page;
  readonly canvas: FrameLocator;
  readonly chat: FrameLocator;
  /** What the browser complained of: errors and warnings of scripts, of the content security policy, of requests. */
  readonly complaints: readonly string[];
  card(title: string): Locator;
  /** Where a card lies on the canvas; nothing if it is not there. */
  position(title: string): Promise<{ x: number; y: number } | undefined>;
  /** Drags a card with the mouse. */
  drag(title: string, by: { dx: number; dy: number }): Promise<void>;
  /** Drags a card and does not let go. */
  pickUp(title: string, by: { dx: number; dy: number }): Promise<void>;
  /** Types a message, and sends it by Enter. */
  ask(text: string): Promise<void>;
  /** Settles when the agent has said it. */
  said(text: string | RegExp): Promise<void>;
  /** Steps in the chat since the person's last message, and how each one stands. */
  steps(): Promise<string[]>;
  /** Writes a picture, once nothing moves any more. */
  screenshot(name: string): Promise<void>;
}

export interface OpenBothPagesOptions {
  browser: Browser;
  url: string;
  /** Where pictures go. @default no pictures */
  screenshots?: string | undefined;
}

export async function openBothPages({ browser, url, screenshots }: OpenBothPagesOptions): Promise<BothPages> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 780 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints = listenToComplaints(page);
  await page.goto(url);
  const canvas = page.frameLocator("iframe[title=Canvas]");
  const chat = page.frameLocator("iframe[title=Chat]");
  const card = (title: string) =>
    canvas.locator(".card", { has: canvas.getByRole("heading", { name: title, exact: true }) });

  async function pickUp(title: string, { dx, dy }: { dx: number; dy: number }): Promise<void> {
    await card(title).scrollIntoViewIfNeeded();
    await atRest(card(title));
    const box = await card(title).boundingBox();
    if (box === null) throw new Error(`there is no card ${title} to drag`);
    const from = { x: box.x + 60, y: box.y + 90 };
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + dx, from.y + dy, { steps: 12 });
  }

  return {
    page,
    canvas,
    chat,
    complaints,
    card,
    async position(title) {
      if ((await card(title).count()) === 0) return undefined;
      await atRest(card(title));
      const [inner, outer] = [await card(title).boundingBox(), await canvas.locator("#canvas").boundingBox()];
      if (inner === null || outer === null) return undefined;
      return { x: Math.round(inner.x - outer.x - 1), y: Math.round(inner.y - outer.y - 1) };
    },
    async drag(title, by) {
      await pickUp(title, by);
      await page.mouse.up();
    },
    pickUp,
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

async function atRest(target: Locator): Promise<void> {
  const settled = (node: Element) => Promise.all(node.getAnimations({ subtree: true }).map(({ finished }) => finished));
  // A transition that begins anew breaks off the one before it, so look until none is left.
  while ((await target.evaluate((node) => node.getAnimations({ subtree: true }).length)) > 0)
    await target.evaluate(settled).catch(() => undefined);
}

function listenToComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    // What was open when the page went away is no complaint.
    if (reason !== "net::ERR_ABORTED") complaints.push(`${request.method()} failed: ${reason}`);
  });
  return complaints;
}
