/**
 * A cursor is the session's own random epoch and a position in it: `5f0c9a1e-17`. The epoch tells a position of this
 * registration from one of an earlier one, which would otherwise look like a position that has not been reached yet.
 */
export function formatCursor(epoch: string, position: number): string {
  return `${epoch}-${position}`;
}

/** The position a cursor names, or `undefined` if it is none of this epoch. */
export function readCursor(cursor: string, epoch: string, newest: number): number | undefined {
  if (cursor.length > epoch.length + 17 || cursor[epoch.length] !== "-" || !cursor.startsWith(epoch)) return undefined;
  const digits = cursor.slice(epoch.length + 1);
  const position = Number(digits);
  return Number.isSafeInteger(position) && String(position) === digits && position >= 0 && position <= newest
    ? position
    : undefined;
}
