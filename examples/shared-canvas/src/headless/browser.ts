import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** There is no Chromium to run the scenario in. The message says how to get one. */
export class MissingBrowserError extends Error {
  override readonly name = "MissingBrowserError";
}

export const installCommand = "apt-get install -y --no-install-recommends chromium";

/** Where Chromium is: `CHROMIUM_PATH`, else Debian's. Nothing where there is none. */
export function chromiumPath(): string | undefined {
  const path = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  return existsSync(path) ? path : undefined;
}

/** @throws MissingBrowserError */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined)
    throw new MissingBrowserError(
      `There is no Chromium to run this in. Install one (${installCommand}), or name yours in CHROMIUM_PATH.`,
    );
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
