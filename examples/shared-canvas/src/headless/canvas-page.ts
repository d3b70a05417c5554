import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { atRest } from "./at-rest.ts";
import { type CardHand, createCardHand } from "./card-hand.ts";
import { listenToComplaints } from "./complaints.ts";

/** The page in a real browser, as a person sees and uses it. */
export interface CanvasPage extends CardHand {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
  /** Settles when the log has a line. */
  logged(line: string): Promise<void>;
  /** Writes a picture, once nothing moves any more. */
  screenshot(name: string): Promise<void>;
}

export interface OpenPageOptions {
  browser: Browser;
  url: string;
  /** Where pictures go. @default no pictures */
  screenshots?: string | undefined;
}

export async function openCanvasPage({ browser, url, screenshots }: OpenPageOptions): Promise<CanvasPage> {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 740 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints = listenToComplaints(page);
  await page.goto(url);
  return {
    page,
    complaints,
    ...createCardHand(page, page),
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
