import { shareLinks } from "@human-plus/core/protocol";

/** Where relays are mounted unless told otherwise; share links count on it. */
export const defaultMount: string = `/${shareLinks.mount}`;

/**
 * A mount as requests are compared with it: `""`, or a path with a slash before and none behind.
 *
 * @throws RangeError for what is no path
 */
export function normaliseMount(mount: string): string {
  const trimmed = mount.replace(/\/+$/, "");
  if (trimmed === "") return "";
  const path = trimmed.startsWith("/") ? trimmed : `/${trimmed}`;
  if (!/^(\/[\w.~-]+)+$/.test(path)) throw new RangeError(`${JSON.stringify(mount)} is no path to mount a relay at`);
  return path;
}
