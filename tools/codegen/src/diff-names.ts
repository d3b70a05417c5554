import { asObject, type Change, isSame, type Parties, shown, toChange } from "./diff-change.ts";
import { compareOrder } from "./diff-keywords.ts";
import { type Json, RELAY_FILE } from "./load.ts";
import type { Model } from "./model.ts";
import { pointerTo } from "./problem.ts";

const EVERYBODY: Parties = { senders: ["agent", "surface", "relay"], readers: ["agent", "surface", "relay"] };
const CALLERS: Parties = { senders: ["agent", "surface"], readers: ["relay"] };
const STREAM: Parties = { senders: ["relay"], readers: ["agent", "surface"] };
const LINKS: Parties = { senders: ["surface"], readers: ["agent"] };

/** Changes of the names that stand outside of messages: revisions, the event stream, share links, authentication. */
export function* compareNames(before: Model, after: Model): Generator<Change> {
  yield* compareTable("protocol", ["x-protocol"], { ...before.protocol }, { ...after.protocol }, EVERYBODY);
  const schemes = ["components", "securitySchemes"];
  yield* compareTable("authentication", schemes, { ...before.authentication }, { ...after.authentication }, CALLERS);
  const stream = ["channels", after.eventStreamChannel, "x-event-stream"];
  yield* compareTable("event stream", stream, before.eventStream, after.eventStream, STREAM);
  yield* compareTable("share links", ["x-share-links"], before.shareLinks, after.shareLinks, LINKS);
}

/** A name that is new is ignored by those who do not know it; any other change is one of meaning. */
function* compareTable(
  subject: string,
  keys: readonly string[],
  before: Record<string, Json>,
  after: Record<string, Json>,
  parties: Parties,
): Generator<Change> {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[name], after[name]];
    if (isSame(from, to)) continue;
    const place = { file: RELAY_FILE, pointer: pointerTo(...keys, name), subject, parties };
    if (Array.isArray(from) && Array.isArray(to)) {
      for (const { what, breaks } of compareOrder(from as string[], to as string[], "name")) {
        yield toChange(place, { what: `${name}: ${what}`, breaks });
      }
    } else if (isTable(from) && isTable(to)) {
      yield* compareTable(subject, [...keys, name], asObject(from), asObject(to), parties);
    } else if (from === undefined) {
      yield toChange(place, { what: `${name} ${shown(to)} added`, breaks: "nobody" });
    } else {
      const what = to === undefined ? `${name} ${shown(from)} removed` : `${name} ${shown(from)} became ${shown(to)}`;
      yield toChange(place, { what, breaks: "both" });
    }
  }
}

function isTable(value: Json | undefined): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
