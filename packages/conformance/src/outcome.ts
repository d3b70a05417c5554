/** How binding a rule is: `must`, every party keeps it; `should`, some deployed systems do otherwise and agents bear with them; `optional`, only for those who offer it. */
export type Level = "must" | "should" | "optional";

/** What a check saw. Its texts are bounded, quoted, and never hold the token. */
export type Outcome =
  | {
      readonly status: "holds";
      /** What else was seen. */
      readonly note?: string | undefined;
    }
  | {
      readonly status: "does_not_hold";
      /** What the contract says. */
      readonly expected: string;
      /** What came. */
      readonly received: string;
    }
  | {
      readonly status: "unseen";
      /** Why it cannot be seen from outside, and what would show it. */
      readonly reason: string;
    };

export function holds(note?: string): Outcome {
  return note === undefined ? { status: "holds" } : { status: "holds", note };
}

export function doesNotHold(expected: string, received: string): Outcome {
  return { status: "does_not_hold", expected, received };
}

export function unseen(reason: string): Outcome {
  return { status: "unseen", reason };
}
