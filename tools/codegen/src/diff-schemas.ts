import { asObject, type Finding, shown } from "./diff-change.ts";
import { compareKeyword, type RuleContext, STRUCTURAL_KEYWORDS } from "./diff-keywords.ts";
import type { Json, JsonObject } from "./load.ts";
import { lastName } from "./names.ts";

/** One side of the comparison. */
export interface SchemaSource {
  readonly definition: (name: string) => JsonObject;
  readonly limits: ReadonlyMap<string, number>;
}

/** Compares schemas of an earlier and a later contract. */
export class SchemaComparison {
  readonly #before: SchemaSource;
  readonly #after: SchemaSource;

  constructor(before: SchemaSource, after: SchemaSource) {
    this.#before = before;
    this.#after = after;
  }

  /** Where both refer to the same definition nothing is found: the definition is compared by itself. */
  *compare(before: Json, after: Json, property?: string, required = true): Generator<Finding> {
    if (before === false || after === false) {
      if (before !== after) {
        yield after === false
          ? { keys: [], what: "may no longer be there", breaks: "senders" }
          : { keys: [], what: "may be there now", breaks: "readers" };
      }
      return;
    }
    let from = direct(asObject(before));
    let to = direct(asObject(after));
    if (refOf(from) !== refOf(to)) {
      yield { keys: [], what: `${nameOf(from)} became ${nameOf(to)}`, breaks: "nobody", prose: true };
      from = expanded(from, this.#before);
      to = expanded(to, this.#after);
    }
    const context: RuleContext = {
      before: from,
      after: to,
      property,
      required,
      limits: { before: this.#before.limits, after: this.#after.limits },
    };
    const isUnion = isUnionOf(from) || isUnionOf(to);
    if (isUnion) yield* this.#unions(from, to);
    else {
      yield* this.#values(from, to, context);
      yield* this.#properties(from, to);
      yield* this.#items(from, to);
    }
    for (const keyword of new Set([...Object.keys(from), ...Object.keys(to)])) {
      if (STRUCTURAL_KEYWORDS.has(keyword) || (isUnion && isAboutValues(keyword))) continue;
      yield* compareKeyword(keyword, context);
    }
  }

  *#values(from: JsonObject, to: JsonObject, context: RuleContext): Generator<Finding> {
    const before = valuesOf(from);
    const after = valuesOf(to);
    if (before === undefined && after === undefined) return;
    if (before === undefined) yield { keys: [], what: "only certain values are allowed now", breaks: "senders" };
    else if (after === undefined) yield { keys: [], what: "any value is allowed now", breaks: "readers" };
    else {
      for (const [key, { value, json, keys }] of before) {
        const now = after.get(key);
        if (now === undefined) {
          const breaks = json["x-outcome"] === undefined ? "senders" : "both";
          yield { keys, what: `value ${shown(value)} removed`, breaks };
        } else {
          for (const keyword of new Set([...Object.keys(json), ...Object.keys(now.json)])) {
            if (keyword === "const") continue;
            for (const finding of compareKeyword(keyword, { ...context, before: json, after: now.json })) {
              yield { ...finding, keys: [...now.keys, ...finding.keys], what: `${shown(value)}: ${finding.what}` };
            }
          }
        }
      }
      const isOpen = from["x-open"] === true;
      for (const [key, { value, keys }] of after) {
        if (!before.has(key))
          yield { keys, what: `value ${shown(value)} added`, breaks: isOpen ? "nobody" : "readers" };
      }
    }
  }

  *#unions(from: JsonObject, to: JsonObject): Generator<Finding> {
    const before = membersOf(from, this.#before);
    const after = membersOf(to, this.#after);
    for (const [key, { schema, keys }] of before) {
      const now = after.get(key);
      if (now === undefined) yield { keys, what: `alternative ${key} removed`, breaks: "senders" };
      else yield* within(now.keys, this.compare(schema, now.schema));
    }
    for (const [key, { keys }] of after) {
      if (!before.has(key)) yield { keys, what: `alternative ${key} added`, breaks: "readers" };
    }
  }

  *#properties(from: JsonObject, to: JsonObject): Generator<Finding> {
    const before = asObject(from["properties"]);
    const after = asObject(to["properties"]);
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const keys = ["properties", name];
      const [old, now] = [before[name], after[name]];
      const wasRequired = isRequired(from, name);
      const needed = isRequired(to, name);
      if (now === undefined) {
        if (old === false) yield { keys, what: `property ${name} may be there now`, breaks: "readers" };
        else if (wasRequired) yield { keys, what: `required property ${name} removed`, breaks: "both" };
        else yield { keys, what: `optional property ${name} removed`, breaks: "senders" };
      } else if (old === undefined) {
        if (now === false) yield { keys, what: `property ${name} may no longer be there`, breaks: "senders" };
        else yield addedProperty(keys, name, needed, asObject(now));
      } else {
        if (needed && !wasRequired) {
          const isFilled = asObject(now)["x-otherwise"] !== undefined;
          yield {
            keys: ["required"],
            what: `property ${name} is required now`,
            breaks: isFilled ? "nobody" : "senders",
          };
        }
        if (wasRequired && !needed) {
          yield { keys: ["required"], what: `property ${name} may be absent now`, breaks: "readers" };
        }
        for (const finding of within(keys, this.compare(old, now, name, needed))) {
          yield { ...finding, what: `${name}: ${finding.what}` };
        }
      }
    }
  }

  *#items(from: JsonObject, to: JsonObject): Generator<Finding> {
    const [before, after] = [from["items"], to["items"]];
    if (before === undefined && after === undefined) return;
    if (before === undefined) yield { keys: ["items"], what: "elements are checked now", breaks: "senders" };
    else if (after === undefined) yield { keys: ["items"], what: "elements are no longer checked", breaks: "readers" };
    else yield* within(["items"], this.compare(before, after));
  }
}

function addedProperty(keys: string[], name: string, required: boolean, json: JsonObject): Finding {
  if (!required) return { keys, what: `new optional property ${name}`, breaks: "nobody" };
  return json["x-otherwise"] === undefined
    ? { keys, what: `new required property ${name}`, breaks: "senders" }
    : { keys, what: `new property ${name}, which senders may leave out`, breaks: "nobody" };
}

function* within(keys: ReadonlyArray<string | number>, findings: Iterable<Finding>): Generator<Finding> {
  for (const finding of findings) yield { ...finding, keys: [...keys, ...finding.keys] };
}

function isRequired(schema: JsonObject, name: string): boolean {
  return ((schema["required"] ?? []) as Json[]).includes(name);
}

/** A reference with keywords of its own is written as `allOf` with one member; here both are one form. */
function direct(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema["allOf"])) return schema;
  const { allOf, ...own } = schema;
  return { ...asObject((allOf as Json[])[0]), ...own };
}

function refOf(schema: JsonObject): string | undefined {
  return typeof schema["$ref"] === "string" ? lastName(schema["$ref"]) : undefined;
}

function nameOf(schema: JsonObject): string {
  return refOf(schema) ?? "a schema in place";
}

/** The definition that is referred to, standing in place. Its prose stays behind: it is not about this place. */
function expanded(schema: JsonObject, source: SchemaSource): JsonObject {
  const name = refOf(schema);
  const { $ref: _ref, description: _description, "x-sent-by": _sentBy, ...own } = schema;
  if (name === undefined) return own;
  return { ...expanded(direct(source.definition(name)), source), ...own };
}

interface Value {
  readonly value: Json;
  readonly json: JsonObject;
  readonly keys: ReadonlyArray<string | number>;
}

/** The values that an enumeration or a constant allows. */
function valuesOf(schema: JsonObject): Map<string, Value> | undefined {
  if ("const" in schema) {
    const value = schema["const"] as Json;
    return new Map([[shown(value), { value, json: {}, keys: ["const"] }]]);
  }
  if (Array.isArray(schema["enum"])) {
    return new Map(schema["enum"].map((value, index) => [shown(value), { value, json: {}, keys: ["enum", index] }]));
  }
  if (!Array.isArray(schema["oneOf"]) || isUnionOf(schema)) return undefined;
  const members = schema["oneOf"].map(asObject);
  return new Map(
    members.map((json, index) => {
      const value = json["const"] as Json;
      return [shown(value), { value, json, keys: ["oneOf", index] }];
    }),
  );
}

function isUnionOf(schema: JsonObject): boolean {
  return Array.isArray(schema["oneOf"]) && !schema["oneOf"].every((member) => "const" in asObject(member));
}

/** Keywords that move into an alternative when a plain schema becomes one of several. */
function isAboutValues(keyword: string): boolean {
  return ["type", "pattern", "minLength", "maxLength", "minimum", "maximum", "maxItems"].includes(keyword);
}

/** The alternatives of a union by what tells them apart; those of a union inside it count as its own. */
function membersOf(
  schema: JsonObject,
  source: SchemaSource,
): Map<string, { schema: JsonObject; keys: ReadonlyArray<string | number> }> {
  const members = new Map<string, { schema: JsonObject; keys: ReadonlyArray<string | number> }>();
  if (!isUnionOf(schema)) {
    const own = Object.entries(schema).filter(
      ([keyword]) => isAboutValues(keyword) || STRUCTURAL_KEYWORDS.has(keyword),
    );
    return members.set(keyOf(schema), { schema: Object.fromEntries(own), keys: [] });
  }
  for (const [index, json] of (schema["oneOf"] as Json[]).entries()) {
    const member = asObject(json);
    const name = refOf(member);
    const target = name === undefined ? undefined : source.definition(name);
    if (target !== undefined && isUnionOf(target)) {
      for (const [key, inner] of membersOf(target, source)) {
        members.set(key, { schema: inner.schema, keys: ["oneOf", index] });
      }
    } else {
      const key = keyOf(member);
      members.set(members.has(key) ? `${key} ${index}` : key, { schema: member, keys: ["oneOf", index] });
    }
  }
  return members;
}

function keyOf(schema: JsonObject): string {
  return refOf(schema) ?? String(schema["type"] ?? shown(schema));
}

/** Whether two schemas say the same, prose and names aside. */
export function isEquivalent(findings: Iterable<Finding>): boolean {
  for (const { breaks, prose = false } of findings) if (breaks !== "nobody" || !prose) return false;
  return true;
}
