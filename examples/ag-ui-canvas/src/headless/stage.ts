import type { Expectations } from "../../../shared-canvas/src/headless/expectations.ts";
import type { Transcript } from "../../../shared-canvas/src/transcript.ts";
import type { CallTool } from "../agent/next-move.ts";
import type { BothPages } from "./both-pages.ts";

/** What every scene of the scenario works with. */
export interface Stage {
  readonly pages: BothPages;
  readonly expect: Expectations;
  readonly transcript: Transcript;
  /** What happens between the agent's telling of a move and the move. Each scene sets its own. */
  interfere: (move: CallTool) => Promise<void>;
}
