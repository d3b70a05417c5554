import type { Parties } from "./diff-change.ts";
import type { Json } from "./load.ts";
import type { Model, Route } from "./model.ts";
import { lastName } from "./names.ts";

const PARTIES: readonly string[] = ["agent", "surface", "relay"];

/** Definitions that are no part of the wire: the SDK gives them to those who call it. */
const OF_THE_SDK: ReadonlySet<string> = new Set(["ErrorCode", "Outcome"]);

/** Who sends each definition and who reads it: by its own `x-sent-by`, or by whatever it is used in. */
export function definitionParties(model: Model): (name: string) => Parties {
  const known = new Map<string, Parties>();
  const uses = usesOf(model);
  const partiesOf = (name: string): Parties => {
    const seen = known.get(name);
    if (seen !== undefined) return seen;
    const { sentBy = [] } = model.definitions.find((definition) => definition.name === name) ?? {};
    const users = uses.get(name);
    const parties = OF_THE_SDK.has(name)
      ? { senders: ["SDK"], readers: ["callers of the SDK"] }
      : sentBy.length > 0
        ? { senders: sentBy, readers: othersThan(sentBy) }
        : joined([...(users?.parties ?? []), ...(users?.definitions ?? []).map(partiesOf)]);
    known.set(name, parties);
    return parties;
  };
  return partiesOf;
}

/** Callers of a route send what it takes and read what it answers; the relay has the other end. */
export function routeParties({ usedBy }: Pick<Route, "usedBy">, kind: "request" | "reply"): Parties {
  return kind === "request" ? { senders: usedBy, readers: ["relay"] } : { senders: ["relay"], readers: usedBy };
}

/** Everybody who has one of the sides in one of the places. Nobody in particular means everybody. */
export function joined(places: readonly Parties[]): Parties {
  if (places.length === 0) return { senders: PARTIES, readers: PARTIES };
  const sorted = (side: keyof Parties) =>
    [...new Set(places.flatMap((place) => place[side]))].sort((a, b) => PARTIES.indexOf(a) - PARTIES.indexOf(b));
  return { senders: sorted("senders"), readers: sorted("readers") };
}

/** What everybody sends, everybody reads. */
function othersThan(senders: readonly string[]): readonly string[] {
  const others = PARTIES.filter((party) => !senders.includes(party));
  return others.length > 0 ? others : PARTIES;
}

/** Names of the definitions that a schema refers to. */
function* referredNames(value: Json): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "$ref" && typeof member === "string") yield lastName(member);
    else yield* referredNames(member);
  }
}

export interface Uses {
  /** Other definitions that hold it. */
  readonly definitions: string[];
  /** Sides of the routes that take or answer it. */
  readonly parties: Parties[];
}

/** Where each definition is used directly. */
export function usesOf(model: Model): ReadonlyMap<string, Uses> {
  const uses = new Map<string, Uses>();
  const entry = (name: string): Uses => {
    const found = uses.get(name) ?? { definitions: [], parties: [] };
    uses.set(name, found);
    return found;
  };
  for (const { name, json } of model.definitions) {
    for (const used of referredNames(json)) entry(used).definitions.push(name);
  }
  for (const route of model.routes) {
    for (const { json } of route.query) {
      for (const used of referredNames(json)) entry(used).parties.push(routeParties(route, "request"));
    }
    for (const { kind, payload = null } of route.messages) {
      for (const used of referredNames(payload)) entry(used).parties.push(routeParties(route, kind));
    }
  }
  return uses;
}
