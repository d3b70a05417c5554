import type { ChangeRow, ErrorCode, HumanPlusError, JsonObject, Outcome, Priority } from "@human-plus/core";

/** Whose hand something was. */
export type SurfaceHand = ChangeRow["actor"];

/** How a proposal stands. */
export type ProposalStanding = "proposed" | "accepted" | "rejected" | "expired" | "stale";

/** Something that happened on a surface, as its feed tells it. Only what a projection lets out ever leaves in an event. */
export type SurfaceOccurrence =
  /** A person did something; what, only the changes say. */
  | { readonly type: "person_acted" }
  /** An agent says what it is doing. */
  | {
      readonly type: "activity";
      readonly action: string;
      readonly target: string | undefined;
      readonly priority: Priority | undefined;
      /** Absent: the agent whose feed it is. */
      readonly participant?: SurfaceParticipant | undefined;
    }
  | { readonly type: "call_started"; readonly call: SurfaceCall }
  /** A running call came further. The message is the surface's text. */
  | {
      readonly type: "call_progress";
      readonly call: SurfaceCall;
      readonly progress: number;
      readonly total: number | undefined;
      readonly message: string | undefined;
    }
  /** A call gave a result. `structuredContent` and `text` are the surface's words. */
  | {
      readonly type: "call_finished";
      readonly call: SurfaceCall;
      readonly isError: boolean;
      readonly text: string;
      readonly structuredContent: JsonObject | undefined;
    }
  /** A call was refused, or failed. `outcome` says what became of it. */
  | {
      readonly type: "call_refused";
      readonly call: SurfaceCall;
      readonly code: ErrorCode | "failed";
      readonly outcome: Outcome;
      /** What stood against it, where the surface said so. */
      readonly changes: readonly ChangeRow[];
      readonly error: HumanPlusError | undefined;
      readonly participant?: SurfaceParticipant | undefined;
    }
  /** Somebody changed something. */
  | {
      readonly type: "changed";
      readonly changes: readonly ChangeRow[];
      /** The rows are all there is. */
      readonly complete: boolean;
      /** One paragraph for a model, in which the surface's words are framed as data. Absent on the owner's side. */
      readonly description?: string | undefined;
      readonly participant?: SurfaceParticipant | undefined;
    }
  /** A write waits for a person, or a person decided about it. The reason is a person's text. */
  | {
      readonly type: "proposal";
      readonly standing: ProposalStanding;
      readonly tool: string;
      readonly proposalId: string | undefined;
      readonly reason: string | undefined;
      readonly participant?: SurfaceParticipant | undefined;
    }
  /** The surface offers other tools than before. */
  | { readonly type: "tools_changed" }
  /** The surface can be reached, or cannot. The code is that of the error that said so. */
  | { readonly type: "availability"; readonly available: boolean; readonly code: ErrorCode | undefined };

export type SurfaceOccurrenceType = SurfaceOccurrence["type"];

/** One call, the same object in all its occurrences. */
export interface SurfaceCall {
  /** Unique in the feed. */
  readonly id: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** Who did it: an identity, so it leaves by projection only. */
export interface SurfaceParticipant {
  readonly id: string | undefined;
  /** What it calls itself: untrusted text. */
  readonly name: string | undefined;
}

/** Tells what happens on a surface: `observeSession` makes one on an agent's side, `observeSurface` on the owner's. */
export interface SurfaceFeed {
  /** Hears everything from now on. Gives back what ends that. */
  observe(listener: (occurrence: SurfaceOccurrence) => void): () => void;
}
