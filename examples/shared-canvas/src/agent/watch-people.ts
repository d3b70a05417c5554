import type { SurfaceSession } from "@human-plus/core";
import { whatWasDone } from "./begin-turn.ts";

export interface WatchOptions {
  session: SurfaceSession;
  /** Takes one line for each thing a person does. */
  say: (text: string) => void;
  /** Ends it. */
  signal: AbortSignal;
}

/** Stays on the canvas without touching it, and says what people do. Settles when it is stopped. */
export async function watchPeople({ session, say, signal }: WatchOptions): Promise<void> {
  let wake: () => void = () => undefined;
  const stopListening = session.on("personActed", () => wake());
  const stopWatching = await session.watch();
  signal.addEventListener("abort", () => wake(), { once: true });
  try {
    while (!signal.aborted) {
      const acted = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { changes } = await session.changesSince({ signal });
      for (const change of changes) if (change.actor === "human") say(whatWasDone(change));
      await acted;
    }
  } finally {
    stopListening();
    stopWatching();
  }
}
