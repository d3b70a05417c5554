import type { SurfaceSession } from "@human-plus/core";
import { codeOf, type Stage } from "./stage.ts";

/** Card that a person drags after one turn of the agent has ended, and before the next begins. */
export const MOVED = { handle: "museums", title: "Museums" } as const;

const LINE = `leaves ${MOVED.title} alone: a person moved it`;

/** A person moves a card between two turns of an agent, which learns of it by asking, and not by a refusal. */
export interface BetweenTurns {
  /** Hears each line of the agent's transcript. */
  hear(line: string): void;
  /** Drags the card, the first time. */
  act(): Promise<void>;
  /** In the turn that begins with the line, lets the agent call for the card all the same. */
  insist(): Promise<void>;
  check(): Promise<void>;
}

export function createBetweenTurns({ canvas, tap, expect, transcript }: Stage, session: SurfaceSession): BetweenTurns {
  const lines: string[] = [];
  const sentMoves = () => tap.handlesIn("canvas_move");
  let dropped: { x: number; y: number } | undefined;
  let sentBeforeLine: readonly string[] | undefined;
  let hasInsisted = false;

  return {
    hear(line) {
      lines.push(line);
      if (line === LINE) sentBeforeLine ??= sentMoves();
    },
    async act() {
      if (dropped !== undefined) return;
      await canvas.drag(MOVED.title, { dx: 100, dy: 330 });
      transcript.say("You", `drag ${MOVED.title} away, between two turns`);
      dropped = await canvas.position(MOVED.title);
    },
    async insist() {
      if (sentBeforeLine === undefined || hasInsisted) return;
      hasInsisted = true;
      const code = await codeOf(session.call("canvas_move", { handle: MOVED.handle, x: 0, y: 0 }));
      expect.equal("a call on it in that turn is refused", code, "deferred_to_person");
      expect.equal("before it is sent", sentMoves(), sentBeforeLine);
    },
    async check() {
      const upToLine = lines.slice(0, lines.indexOf(LINE) + 1);
      const isRefusal = (line: string) => line.startsWith("is refused");
      expect.equal(`the transcript says that Tidy ${LINE}`, upToLine.at(-1), LINE);
      expect.equal("without a refusal before", upToLine.filter(isRefusal), []);
      expect.equal("only the card of the turn before had been called for", sentBeforeLine, ["travel"]);
      expect.equal(
        "and this one never was",
        sentMoves().filter((handle) => handle === MOVED.handle),
        [],
      );
      expect.equal("it lies where the person put it", await canvas.position(MOVED.title), dropped);
    },
  };
}
