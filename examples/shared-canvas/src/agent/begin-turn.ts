import type { ChangeRow, HandlesOf, SurfaceSession, Turn } from "@human-plus/core";

/** Every tool of the canvas that works on a card names it in the same way. */
const handlesOf: HandlesOf = (_tool, { handle }) => (typeof handle === "string" ? [handle] : []);

const VERBS = { created: "added", updated: "edited", deleted: "deleted", moved: "moved", unknown: "changed" } as const;

/** Asks what changed. Until the turn ends, a call on a card that somebody else changed is refused before it is sent. */
export function beginTurn(session: SurfaceSession): Promise<Turn> {
  return session.turn({ protect: true, handlesOf });
}

/** "moved Budget". */
export function whatWasDone({ kind, handle, label = handle }: ChangeRow): string {
  return `${VERBS[kind]} ${label}`;
}

/** "Budget alone: a person moved it". */
export function whyLeftAlone({ kind, actor, handle, label = handle }: ChangeRow): string {
  return `${label} alone: ${actor === "human" ? "a person" : "another agent"} ${VERBS[kind]} it`;
}
