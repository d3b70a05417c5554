import type { HistoryEntry } from "@human-plus/surface";

/** One line of the activity log. Names in it are untrusted: show it as text and nothing else. */
export interface ActivityLine {
  /** Stays the same while the line only grows. */
  readonly key: string;
  readonly text: string;
  readonly tone: "person" | "agent" | "refused" | "proposal" | "presence";
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** An agent came or went. The surface's history does not hold this, so the page keeps it. */
export interface Visit {
  readonly type: "joined" | "left";
  readonly at: number;
  readonly by: string;
}

const VERBS = { created: "added", updated: "edited", deleted: "deleted", moved: "moved" } as const;

/** The log in plain words, the oldest line first. The same thing done again at once is one line, with the later time. */
export function toActivityLines(history: readonly HistoryEntry[], visits: readonly Visit[]): ActivityLine[] {
  const entries = [...history, ...visits].sort((a, b) => a.at - b.at);
  const lines: ActivityLine[] = [];
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const { text, tone } = describe(entry);
    const previous = lines.at(-1);
    if (previous?.text === text) {
      lines[lines.length - 1] = { ...previous, at: entry.at };
      continue;
    }
    const count = (seen.get(`${entry.at} ${text}`) ?? 0) + 1;
    seen.set(`${entry.at} ${text}`, count);
    lines.push({ key: `${entry.at} ${text} ${count}`, text, tone, at: entry.at });
  }
  return lines;
}

function describe(entry: HistoryEntry | Visit): Pick<ActivityLine, "text" | "tone"> {
  switch (entry.type) {
    case "joined":
    case "left":
      return { text: `${entry.by} ${entry.type}`, tone: "presence" };
    case "change": {
      const { change, hand } = entry;
      const who = hand.type === "human" ? (entry.by ?? "You") : (entry.by ?? "An agent");
      const text = `${who} ${VERBS[change.kind]} ${change.label ?? change.handle}`;
      return { text, tone: hand.type === "human" ? "person" : "agent" };
    }
    case "refused": {
      const what = entry.changes.map(({ actor, kind, label, handle }) => {
        const verb = kind === "unknown" ? "changed" : VERBS[kind];
        return `${actor === "human" ? "you" : "another agent"} ${verb} ${label ?? handle}`;
      });
      const reason = [...new Set(what)].join(", and ") || "the canvas changed";
      return { text: `Refused: ${reason} while ${entry.by ?? "an agent"} was working`, tone: "refused" };
    }
    case "proposal":
      return { text: describeProposal(entry), tone: "proposal" };
    default:
      return entry satisfies never;
  }
}

function describeProposal({ state, summary, by = "An agent" }: Extract<HistoryEntry, { type: "proposal" }>): string {
  const what = summary.charAt(0).toLowerCase() + summary.slice(1);
  switch (state) {
    case "proposed":
      return `${by} proposes to ${what}`;
    case "accepted":
      return `You accepted: ${what}`;
    case "rejected":
      return `You rejected: ${what}`;
    case "expired":
      return `Nobody decided in time: ${what}`;
    case "stale":
      return `Changed meanwhile, so nothing was done: ${what}`;
    default:
      return state satisfies never;
  }
}
