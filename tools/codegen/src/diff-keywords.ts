import { asObject, type Breaks, type Finding, isSame, shown } from "./diff-change.ts";
import type { Json, JsonObject } from "./load.ts";

/** What a rule may look at besides the two values of its keyword. */
export interface RuleContext {
  /** The schemas that hold the keyword. */
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The property that the schema describes, where it describes one. */
  readonly property: string | undefined;
  /** Without a readable value, the whole is refused. */
  readonly required: boolean;
  readonly limits: { readonly before: ReadonlyMap<string, number>; readonly after: ReadonlyMap<string, number> };
}

type Rule = (before: Json | undefined, after: Json | undefined, context: RuleContext) => Iterable<Finding>;

/** Keywords that the comparison of schemas goes into itself. */
export const STRUCTURAL_KEYWORDS: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "const",
  "definitions",
  "enum",
  "items",
  "oneOf",
  "properties",
  "required",
]);

/** How a change of each other keyword is judged. PROTOCOL.md section 10 gives the rules. */
export const KEYWORD_RULES: Readonly<Record<string, Rule>> = {
  $schema: simple("both", "both", "both"),
  title: prose,
  description: prose,
  examples: prose,
  default: simple("both", "both", "both"),
  type,
  pattern: simple("senders", "readers", "both"),
  minLength: lowerBound,
  minimum: lowerBound,
  maxLength: upperBound,
  maximum: upperBound,
  maxItems: upperBound,
  "x-max-bytes": upperBound,
  "x-max-depth": upperBound,
  "x-reserved-endings": reservedEndings,
  "x-places": places,
  "x-read-from": readFrom,
  "x-inverse-from": aliases,
  "x-vocabulary": vocabulary,
  "x-otherwise": otherwise,
  "x-malformed": simple("nobody", "senders", "both"),
  "x-first": simple("both", "both", "both"),
  "x-coerce": simple("nobody", "senders", "both"),
  "x-trim": simple("both", "both", "both"),
  "x-fold-case": simple("nobody", "senders", "both"),
  "x-wrap": simple("nobody", "senders", "both"),
  "x-embedded-json": simple("nobody", "senders", "both"),
  "x-drop-invalid": simple("readers", "senders", "readers"),
  "x-tag": simple("nobody", "nobody", "both"),
  "x-select": selection,
  "x-sent-by": senders,
  "x-constants": simple("both", "both", "both"),
  // A promise to bear with more members later: readers that were not told so are not ready for them.
  "x-open": simple("readers", "nobody", "both"),
  "x-outcome": simple("both", "both", "both"),
  "x-retryable": simple("both", "both", "both"),
  "x-unit": simple("both", "both", "both"),
  "x-secret": simple("nobody", "nobody", "nobody"),
};

/** Findings about one keyword. One that nobody wrote a rule for breaks everybody. */
export function* compareKeyword(keyword: string, context: RuleContext): Generator<Finding> {
  const before = context.before[keyword];
  const after = context.after[keyword];
  if (isSame(before, after)) return;
  const rule = Object.hasOwn(KEYWORD_RULES, keyword) ? KEYWORD_RULES[keyword] : undefined;
  for (const finding of (rule ?? simple("both", "both", "both"))(before, after, context)) {
    const told = finding.what.startsWith(keyword) ? finding.what : `${keyword}: ${finding.what}`;
    yield { ...finding, keys: [keyword, ...finding.keys], what: told };
  }
}

function found(what: string, breaks: Breaks): Finding {
  return { keys: [], what, breaks };
}

function simple(added: Breaks, removed: Breaks, changed: Breaks): Rule {
  return function* (before, after) {
    if (before === undefined) yield found(`${shown(after)} added`, added);
    else if (after === undefined) yield found(`${shown(before)} removed`, removed);
    else yield found(`${shown(before)} became ${shown(after)}`, changed);
  };
}

function* prose(before: Json | undefined, after: Json | undefined): Generator<Finding> {
  const what = before === undefined ? "added" : after === undefined ? "removed" : "other words";
  yield { keys: [], what, breaks: "nobody", prose: true };
}

function* type(before: Json | undefined, after: Json | undefined): Generator<Finding> {
  const what = `${shown(before)} became ${shown(after)}`;
  if (before === undefined || (before === "number" && after === "integer")) yield found(what, "senders");
  else if (after === undefined || (before === "integer" && after === "number")) yield found(what, "readers");
  else yield found(what, "both");
}

function lowerBound(before: Json | undefined, after: Json | undefined, context: RuleContext): Iterable<Finding> {
  return bound(before, after, context, -1);
}

function upperBound(before: Json | undefined, after: Json | undefined, context: RuleContext): Iterable<Finding> {
  return bound(before, after, context, 1);
}

/** A tighter bound refuses what was sent; a wider one lets through what readers did not expect. */
function* bound(
  before: Json | undefined,
  after: Json | undefined,
  { limits }: RuleContext,
  direction: 1 | -1,
): Generator<Finding> {
  const from = boundOf(before, limits.before);
  const to = boundOf(after, limits.after);
  const what = `${shown(before)} became ${shown(after)}`;
  // A limit that has another value is judged where it stands.
  if (typeof before === "string" && before === after) return;
  if (from === to) yield found(`${what}, the same bound`, "nobody");
  else if (to === undefined) yield found(`${what}, no bound`, "readers");
  else if (from === undefined || (to - from) * direction < 0) yield found(`${what}, a tighter bound`, "senders");
  else yield found(`${what}, a wider bound`, "readers");
}

function boundOf(value: Json | undefined, limits: ReadonlyMap<string, number>): number | undefined {
  return typeof value === "string" ? limits.get(value) : (value as number | undefined);
}

function* reservedEndings(before: Json | undefined, after: Json | undefined): Generator<Finding> {
  if (before === undefined) yield found("added", "senders");
  else if (after === undefined) yield found("removed", "readers");
  else {
    const { words: from, ...restBefore } = asObject(before);
    const { words: to, ...restAfter } = asObject(after);
    yield* members(from as string[], to as string[], "word", { added: "senders", removed: "readers" }, ["words"]);
    if (!isSame(restBefore, restAfter)) yield found("another way to find the words", "both");
  }
}

function* members(
  before: readonly string[],
  after: readonly string[],
  noun: string,
  { added, removed }: { added: Breaks; removed: Breaks },
  keys: string[] = [],
): Generator<Finding> {
  for (const name of before.filter((word) => !after.includes(word))) {
    yield { keys, what: `${noun} ${shown(name)} removed`, breaks: removed };
  }
  for (const name of after.filter((word) => !before.includes(word))) {
    yield { keys, what: `${noun} ${shown(name)} added`, breaks: added };
  }
}

/** A list that is tried in order: more may follow at its end, and nothing else may change. */
export function* compareOrder(
  before: readonly string[],
  after: readonly string[],
  noun: string,
  added: Breaks = "nobody",
): Generator<Finding> {
  const kept = after.filter((word) => before.includes(word));
  const isFirst = after.slice(0, kept.length).every((word) => before.includes(word));
  yield* members(before, after, noun, { added: isFirst ? added : "both", removed: "senders" });
  if (
    !isSame(
      kept,
      before.filter((word) => after.includes(word)),
    )
  )
    yield found("another order", "both");
}

function aliases(before: Json | undefined, after: Json | undefined): Iterable<Finding> {
  return compareOrder((before ?? []) as string[], (after ?? []) as string[], "alias");
}

/** Without the keyword a property is read from its own name. Inverse aliases come after these, so a new one is not the last. */
function readFrom(before: Json | undefined, after: Json | undefined, context: RuleContext): Iterable<Finding> {
  const own = context.property === undefined ? [] : [context.property];
  const isLast = context.before["x-inverse-from"] === undefined;
  return compareOrder((before ?? own) as string[], (after ?? own) as string[], "alias", isLast ? "nobody" : "both");
}

/** A place is looked at for every alias in turn, so a new one comes before what the next alias finds elsewhere. */
function places(before: Json | undefined, after: Json | undefined, context: RuleContext): Iterable<Finding> {
  const isSingle = Object.values(asObject(context.before["properties"])).every(
    (property) => ((asObject(property)["x-read-from"] ?? []) as Json[]).length <= 1,
  );
  return compareOrder((before ?? [""]) as string[], (after ?? [""]) as string[], "place", isSingle ? "nobody" : "both");
}

function* vocabulary(before: Json | undefined, after: Json | undefined): Generator<Finding> {
  const from = wordsOf(before);
  const to = wordsOf(after);
  for (const [word, value] of from) {
    const now = to.get(word);
    if (now === undefined) yield { keys: [value], what: `word ${shown(word)} removed`, breaks: "senders" };
    else if (now !== value) {
      yield { keys: [now], what: `word ${shown(word)} means ${now} and no longer ${value}`, breaks: "senders" };
    }
  }
  for (const [word, value] of to) {
    if (!from.has(word)) yield { keys: [value], what: `word ${shown(word)} added for ${value}`, breaks: "nobody" };
  }
}

function wordsOf(value: Json | undefined): Map<string, string> {
  return new Map(
    Object.entries(asObject(value)).flatMap(([meaning, words]) =>
      (words as string[]).map((word) => [word, meaning] as const),
    ),
  );
}

function* otherwise(before: Json | undefined, after: Json | undefined, { required }: RuleContext): Generator<Finding> {
  if (before === undefined) yield found(`${shown(after)} added`, "nobody");
  else if (after === undefined) yield found(`${shown(before)} removed`, required ? "senders" : "readers");
  else yield found(`${shown(before)} became ${shown(after)}`, "both");
}

/** Entries for new members are judged with the members. */
function* selection(before: Json | undefined, after: Json | undefined): Generator<Finding> {
  const from = (before ?? []) as Json[];
  const to = (after ?? []) as Json[];
  const uses = new Set(from.map((entry) => asObject(entry)["use"]));
  const isKept = isSame(
    from,
    to.filter((entry) => uses.has(asObject(entry)["use"] as Json)),
  );
  if (before === undefined || after === undefined) yield found(before === undefined ? "added" : "removed", "nobody");
  else yield found(isKept ? "entries added" : "members are chosen otherwise", isKept ? "nobody" : "both");
}

function senders(before: Json | undefined, after: Json | undefined): Iterable<Finding> {
  return members((before ?? []) as string[], (after ?? []) as string[], "sender", { added: "nobody", removed: "both" });
}
