const MAX_MS = 3_600_000;

/** `Retry-After` in milliseconds, given as seconds or as a date; at most an hour. */
export function retryAfterMs(value: string | undefined, now: () => number = Date.now): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1_000, MAX_MS);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now(), 0), MAX_MS);
}
