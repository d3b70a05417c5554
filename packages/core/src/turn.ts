import { invalidArgument } from "./argument.ts";
import type { ChangeReport } from "./change-feed.ts";
import { HumanPlusError } from "./error.ts";
import type { JsonObject } from "./gen/types.ts";
import type { OperationOptions } from "./human-plus.ts";

/** The handles that a call works on: what a host knows of its surface's tools. */
export type HandlesOf = (tool: string, args: JsonObject) => Iterable<string>;

export interface TurnOptions extends OperationOptions {
  /** Refuse calls that name a handle to be left alone, before anything is sent. Needs `handlesOf`. @default false */
  protect?: boolean | undefined;
  /** @default none */
  handlesOf?: HandlesOf | undefined;
}

/** One turn of an agent loop. It ends with `end()`, with the next turn of the attachment, or with a `using` block. */
export interface Turn extends Disposable {
  /** What changed since this agent last read the surface. */
  readonly report: ChangeReport;
  /** What to tell the model. Empty when nothing changed, and that is known. */
  readonly text: string;
  /** Handles that somebody else changed, each once. */
  readonly leaveAlone: readonly string[];
  /** Ends the protection. */
  end(): void;
}

/** What is refused while a turn lasts. */
export class TurnProtection {
  readonly #leaveAlone: ReadonlySet<string>;
  readonly #handlesOf: HandlesOf;

  constructor(leaveAlone: readonly string[], handlesOf: HandlesOf) {
    this.#leaveAlone = new Set(leaveAlone);
    this.#handlesOf = handlesOf;
  }

  /** @throws HumanPlusError `deferred_to_person` when the call names a handle to be left alone */
  assertFree(tool: string, args: JsonObject): void {
    for (const handle of this.#handlesOf(tool, args)) {
      if (!this.#leaveAlone.has(handle)) continue;
      const what = `${tool} was not called: somebody else changed ${JSON.stringify(handle)} since you last read it.`;
      throw new HumanPlusError("deferred_to_person", `${what} Leave it alone in this turn, or ask the person.`);
    }
  }
}

/** What a turn protects, if anything. @throws HumanPlusError `invalid_argument` when the mapping is missing */
export function handlesToProtect({ protect = false, handlesOf }: TurnOptions): HandlesOf | undefined {
  if (!protect) return undefined;
  if (handlesOf === undefined) throw invalidArgument("protect needs handlesOf: which handles a call works on");
  return handlesOf;
}

export function createTurn(report: ChangeReport, end: () => void): Turn {
  const leaveAlone = [...new Set(report.deferTo.map(({ handle }) => handle))];
  return { report, text: turnText(report), leaveAlone, end, [Symbol.dispose]: end };
}

function turnText(report: ChangeReport): string {
  if (report.nothingChanged) return "";
  if (report.deferTo.length === 0) return report.describe();
  return `${report.describe()}\nLeave alone what others changed, unless a person asks you to work on it.`;
}
