import type { SurfaceSession } from "@human-plus/core";
import { readCanvas } from "./canvas-reading.ts";

export interface ProposeOptions {
  session: SurfaceSession;
  /** Takes one line of the transcript. */
  say: (text: string) => void;
}

/** Proposes to delete a card that says of itself that it is out of date. Deleting is staged: only a person can accept. */
export async function proposeCleanUp({ session, say }: ProposeOptions): Promise<string | undefined> {
  const { cards } = await readCanvas(session);
  const outdated = cards.find(({ title }) => title === "Old notes");
  if (outdated === undefined) return undefined;
  await session.announce({
    action: `Proposing to delete ${outdated.title}`,
    target: outdated.handle,
    priority: "attention",
  });
  const { isError } = await session.call("canvas_delete", { handle: outdated.handle });
  say(
    isError ? `cannot propose to delete ${outdated.title}` : `proposes to delete ${outdated.title}: a person decides`,
  );
  return outdated.handle;
}
