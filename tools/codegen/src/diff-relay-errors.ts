import { type Change, type Finding, toChange } from "./diff-change.ts";
import { RELAY_FILE } from "./load.ts";
import type { Model, RelayErrorEntry } from "./model.ts";
import { pointerTo } from "./problem.ts";

/** Changes of the rules that say what a refusal of a relay means. Their order matters: the first that matches decides. */
export function* compareRelayErrors(before: Model, after: Model): Generator<Change> {
  const from = before.relayErrors;
  const to = after.relayErrors;
  const change = (index: number, finding: Omit<Finding, "keys">) => {
    const parties = { senders: ["relay"], readers: ["agent", "surface"] };
    const place = { file: RELAY_FILE, pointer: pointerTo("x-relay-errors", index), subject: "relay errors", parties };
    return toChange(place, finding);
  };
  for (const [index, rule] of from.entries()) {
    const at = to.findIndex((candidate) => nameOf(candidate) === nameOf(rule));
    const now = to.find((candidate) => isMatch(candidate, rule));
    const meaning = now === undefined ? "nothing" : meaningOf(now);
    const place = at < 0 ? index : at;
    if (at < 0 && rule.code !== undefined) {
      yield change(place, { what: `code ${nameOf(rule)} removed`, breaks: "both" });
    } else if (meaning !== meaningOf(rule)) {
      const what = `${nameOf(rule)} means ${meaning} and no longer ${meaningOf(rule)}`;
      yield change(place, { what, breaks: "both" });
    } else if (at < 0) {
      yield change(place, { what: `rule for ${nameOf(rule)} removed; another says the same`, breaks: "nobody" });
    }
    const same = at < 0 ? undefined : to[at];
    if (same === undefined) continue;
    if (same.sentByRelay !== rule.sentByRelay) {
      const what = `${nameOf(rule)}: the relay of this project ${same.sentByRelay ? "sends it now" : "no longer sends it"}`;
      yield change(at, { what, breaks: "nobody" });
    }
    if (same.description !== rule.description) {
      yield change(at, { what: `${nameOf(rule)}: other words`, breaks: "nobody", prose: true });
    }
  }
  for (const [index, rule] of to.entries()) {
    if (from.some((candidate) => nameOf(candidate) === nameOf(rule))) continue;
    const known = from.find((candidate) => isMatch(candidate, rule));
    // A code that readers do not know is judged by its status; a rule without a code judges what is already there.
    if (rule.code !== undefined) yield change(index, { what: `new code ${nameOf(rule)}`, breaks: "nobody" });
    else {
      const isOther = known !== undefined && meaningOf(known) !== meaningOf(rule);
      yield change(index, { what: `new rule for ${nameOf(rule)}`, breaks: isOther ? "both" : "nobody" });
    }
  }
}

function nameOf({ status, code, bodyContains }: RelayErrorEntry): string {
  return [status, code, bodyContains && `with ${bodyContains} in its body`].filter(Boolean).join(" ");
}

function meaningOf({ error, outcome, retryable }: RelayErrorEntry): string {
  return `${error}, ${outcome}, ${retryable ? "to be retried" : "not to be retried"}`;
}

/** Whether a rule covers the refusal that another rule was written for. */
function isMatch(rule: RelayErrorEntry, refusal: RelayErrorEntry): boolean {
  const body = refusal.code ?? refusal.bodyContains ?? "";
  return (
    coversStatus(rule.status, refusal.status) &&
    (rule.code === undefined || rule.code === refusal.code) &&
    (rule.bodyContains === undefined || body.includes(rule.bodyContains))
  );
}

function coversStatus(status: number | string, other: number | string): boolean {
  return status === other || (typeof status === "string" && status.charAt(0) === String(other).charAt(0));
}
