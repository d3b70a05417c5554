import type { ChangeFeedState } from "./attachment.ts";
import { describeChange } from "./conflict-detection.ts";
import { safeParseCallToolResult, safeParseChangeFeed } from "./gen/parsers.ts";
import type { ChangeRow, JsonObject } from "./gen/types.ts";
import type { ResultGuard, TextSource } from "./result-guard.ts";

/**
 * What changed on a surface since this agent last read it. Check `answered` before `changes`: an empty list from a
 * surface that offers no feed is not calm. PROTOCOL.md section 6.
 */
export interface ChangeReport {
  readonly state: ChangeFeedState;
  /** The surface offers a feed and it was read. */
  readonly answered: boolean;
  /** The rows are all there is. */
  readonly complete: boolean;
  /** Nothing changed, and that is known: answered, complete, no rows, and nothing that could not be read. */
  readonly nothingChanged: boolean;
  /** Rows in the surface's order. At most 10,000. */
  readonly changes: readonly ChangeRow[];
  /** Rows of anybody but this agent: leave these alone until you have looked at them. */
  readonly deferTo: readonly ChangeRow[];
  /** Distinct handles that changed, in the order in which they were first seen. */
  readonly handles: readonly string[];
  /** Rows, or lists of rows, that could not be read. */
  readonly unreadable: number;
  /** One paragraph for a model: what changed by whose hand, and what is not known. The surface's words in it are framed as data. */
  describe(): string;
}

const MAX_ROWS_IN_TEXT = 50;

/** The report of a surface whose feed could not be asked. */
export function unansweredReport(state: ChangeFeedState, text: string): ChangeReport {
  return {
    state,
    answered: false,
    complete: false,
    nothingChanged: false,
    changes: [],
    deferTo: [],
    handles: [],
    unreadable: 0,
    describe: () => text,
  };
}

/** A feed that says that it failed told nothing to rely on, and its marker stands for nothing that was read. */
export function hasFailed(result: JsonObject): boolean {
  const parsed = safeParseCallToolResult(result);
  return parsed.ok && parsed.value.isError;
}

export function readChangeFeed(
  result: JsonObject,
  before: ChangeFeedState,
  source: TextSource,
  guard: ResultGuard,
): ChangeReport {
  const parsed = safeParseChangeFeed(result);
  const feed = parsed.ok ? parsed.value : { changes: [], complete: false, unreadable: 1 };
  const failed = hasFailed(result);
  const { changes } = feed;
  const complete = feed.complete && !failed;
  const unreadable = failed ? Math.max(1, feed.unreadable) : feed.unreadable;
  const named = changes.some(({ actor }) => actor === "human" || actor === "other");
  const report = {
    state: (before === "attributed" || named ? "attributed" : "offered") as ChangeFeedState,
    answered: true,
    complete,
    nothingChanged: complete && changes.length === 0 && unreadable === 0,
    changes,
    deferTo: changes.filter(({ actor }) => actor !== "agent"),
    handles: [...new Set(changes.map(({ handle }) => handle))],
    unreadable,
  };
  const text = reportText(report, source, guard);
  return { ...report, describe: () => text };
}

function reportText(report: Omit<ChangeReport, "describe">, source: TextSource, guard: ResultGuard): string {
  const { changes, complete, unreadable, nothingChanged } = report;
  if (nothingChanged) return "Nothing changed on the surface since you last read it.";
  const lines: string[] = [];
  if (changes.length > 0) {
    const rows = changes.slice(0, MAX_ROWS_IN_TEXT).map(describeChange);
    if (changes.length > rows.length) rows.push(`and ${changes.length - rows.length} more`);
    lines.push("Changed on the surface since you last read it:", guard.excerpt(rows.join("\n"), source, 16_384));
  }
  if (!complete)
    lines.push("The surface does not know of everything that changed: read what you work on before you write.");
  if (unreadable > 0) lines.push(`${unreadable} change(s) could not be read: read what you work on before you write.`);
  return lines.join("\n");
}

/** What is known of a surface's change feed. */
export interface ChangeFeedReport {
  readonly state: ChangeFeedState;
  /** What is known, and what is not, in a sentence. */
  describe(): string;
}

const FEED_WORDS: Readonly<Record<ChangeFeedState, string>> = {
  not_observed: "The surface's tools were not listed yet: whether it offers a change feed is not known.",
  unavailable: "The surface offers no change feed: whether something changed can only be seen by reading.",
  offered:
    "The surface offers a change feed. It has named nobody but this agent yet: whether it tells hands apart is not known.",
  attributed: "The surface offers a change feed that names whose hand a change was.",
};

export function changeFeedReport(state: ChangeFeedState): ChangeFeedReport {
  return { state, describe: () => FEED_WORDS[state] };
}
