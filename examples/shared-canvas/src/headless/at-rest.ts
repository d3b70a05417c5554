import type { Locator } from "playwright-core";

/** Settles once nothing moves any more in an element. */
export async function atRest(target: Locator): Promise<void> {
  const settled = (node: Element) => Promise.all(node.getAnimations({ subtree: true }).map(({ finished }) => finished));
  // A transition that begins anew breaks off the one before it, so look until none is left.
  while ((await target.evaluate((node) => node.getAnimations({ subtree: true }).length)) > 0)
    await target.evaluate(settled).catch(() => undefined);
}
