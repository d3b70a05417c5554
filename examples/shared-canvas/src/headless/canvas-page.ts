import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";

/** The page in a real browser, as a person sees and uses it. */
export interface CanvasPage {
  readonly page: Page;
  /** What the browser complained of: errors of scripts, of the content security policy, of requests. */
  readonly complaints: readonly string[];
  card(title: string): Locator;
  /** Where a card lies on the canvas; nothing if it is not there. */
  position(title: string): Promise<{ x: number; y: number } | undefined>;
  /** Drags a card with the mouse. */
  drag(title: string, by: { dx: number; dy: number }): Promise<void>;
  /** Drags a card and does not let go. */
  pickUp(title: string, by: { dx: number; dy: number }): Promise<void>;
  /** Settles when the log has a line. */
  logged(line: string): Promise<void>;
  /** Writes a picture, once nothing moves any more. */
  screenshot(name: string): Promise<void>;
}

export interface OpenCanvasPageOptions {
  browser: Browser;
  url: string;
  /** Where pictures go. @default no pictures */
  screenshots?: string | undefined;
}

export async function openCanvasPage({ browser, url, screenshots }: OpenCanvasPageOptions): Promise<CanvasPage> {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 740 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
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
  await page.goto(url);

  const canvas = page.locator("#canvas");
  const card = (title: string) =>
    page.locator(".card", { has: page.getByRole("heading", { name: title, exact: true }) });
  const atRest = async (target: Locator) => {
    const settled = (node: Element) =>
      Promise.all(node.getAnimations({ subtree: true }).map(({ finished }) => finished));
    // A transition that begins anew breaks off the one before it, so look until none is left.
    while ((await target.evaluate((node) => node.getAnimations({ subtree: true }).length)) > 0)
      await target.evaluate(settled).catch(() => undefined);
  };

  async function pickUp(title: string, { dx, dy }: { dx: number; dy: number }): Promise<void> {
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
    complaints,
    card,
    async position(title) {
      if ((await card(title).count()) === 0) return undefined;
      await atRest(card(title));
      const [inner, outer] = [await card(title).boundingBox(), await canvas.boundingBox()];
      if (inner === null || outer === null) return undefined;
      return { x: Math.round(inner.x - outer.x - 1), y: Math.round(inner.y - outer.y - 1) };
    },
    async drag(title, by) {
      await pickUp(title, by);
      await page.mouse.up();
    },
    pickUp,
    async logged(line) {
      await page.locator("#log .line > span").getByText(line, { exact: true }).first().waitFor();
    },
    async screenshot(name) {
      if (screenshots === undefined) return;
      await atRest(page.locator("body"));
      await page.screenshot({ path: join(screenshots, `${name}.png`) });
    },
  };
}
