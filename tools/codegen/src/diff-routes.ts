import { type Change, type Finding, isSame, type Parties, shown, toChange } from "./diff-change.ts";
import { routeParties } from "./diff-parties.ts";
import type { SchemaComparison } from "./diff-schemas.ts";
import { RELAY_FILE } from "./load.ts";
import type { Model, QueryParameter, Route, RouteMessage } from "./model.ts";
import { pointerTo } from "./problem.ts";

/** Changes of the routes of a relay. Method and address are what a route is known by; its name is the generator's. */
export function* compareRoutes(before: Model, after: Model, schemas: SchemaComparison): Generator<Change> {
  const from = byAddress(before.routes);
  const to = byAddress(after.routes);
  for (const [address, route] of from) {
    const now = to.get(address);
    if (now === undefined) yield routeChange(route, [], { what: `route ${address} removed`, breaks: "senders" });
    else yield* compareRoute(address, route, now, schemas);
  }
  for (const [address, route] of to) {
    if (from.has(address)) continue;
    yield route.optional
      ? routeChange(route, [], { what: `new optional route ${address}`, breaks: "nobody" })
      : routeChange(route, [], { what: `new route ${address}, which every relay needs`, breaks: "readers" });
  }
}

function byAddress(routes: readonly Route[]): Map<string, Route> {
  return new Map(routes.map((route) => [`${route.method} ${route.address}`, route]));
}

function routeChange(
  route: Route,
  keys: ReadonlyArray<string | number>,
  finding: Omit<Finding, "keys">,
  parties: Parties = routeParties(route, "request"),
): Change {
  const pointer = pointerTo("operations", route.name, ...keys);
  return toChange({ file: RELAY_FILE, pointer, subject: `${route.method} ${route.address}`, parties }, finding);
}

function* compareRoute(address: string, from: Route, to: Route, schemas: SchemaComparison): Generator<Change> {
  const changed = (key: string, what: string, breaks: Finding["breaks"], prose = false) =>
    routeChange(to, [key], { what, breaks, prose }, routeParties(from, "request"));
  if (from.name !== to.name)
    yield routeChange(to, [], { what: `${from.name} is called ${to.name} now`, breaks: "nobody" });
  if (from.summary !== to.summary) yield changed("summary", "summary: other words", "nobody", true);
  if (from.optional && !to.optional) yield changed("x-optional", "every relay needs it now", "readers");
  if (!from.optional && to.optional) yield changed("x-optional", "a relay need not have it now", "senders");
  if (from.dialect !== to.dialect) {
    yield changed("x-dialect", `dialect ${shown(from.dialect)} became ${shown(to.dialect)}`, "both");
  }
  const gone = from.usedBy.filter((user) => !to.usedBy.includes(user));
  if (gone.length > 0) {
    const finding = { what: `no longer for ${gone.join(", ")}`, breaks: "senders" } as const;
    yield routeChange(to, ["x-used-by"], finding, { senders: gone, readers: ["relay"] });
  }
  const come = to.usedBy.filter((user) => !from.usedBy.includes(user));
  if (come.length > 0) yield changed("x-used-by", `for ${come.join(", ")} as well`, "nobody");
  yield* compareQuery(from, to, schemas);
  for (const kind of ["request", "reply"] as const) yield* compareMessages(kind, from, to, schemas, address);
}

function* compareQuery(from: Route, to: Route, schemas: SchemaComparison): Generator<Change> {
  const parties = routeParties(from, "request");
  const before = new Map(from.query.map((parameter) => [parameter.name, parameter]));
  const after = new Map(to.query.map((parameter) => [parameter.name, parameter]));
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const keys = ["bindings", "http", "query", "properties", name];
    for (const finding of parameterFindings(name, before.get(name), after.get(name), schemas)) {
      yield routeChange(to, [...keys, ...finding.keys], finding, parties);
    }
  }
}

function* parameterFindings(
  name: string,
  from: QueryParameter | undefined,
  to: QueryParameter | undefined,
  schemas: SchemaComparison,
): Generator<Finding> {
  if (from === undefined || to === undefined) {
    if (to === undefined) yield { keys: [], what: `query parameter ${name} removed`, breaks: "senders" };
    else if (to.required) yield { keys: [], what: `new required query parameter ${name}`, breaks: "senders" };
    else yield { keys: [], what: `new optional query parameter ${name}`, breaks: "nobody" };
    return;
  }
  if (to.required && !from.required) yield { keys: [], what: `${name} is required now`, breaks: "senders" };
  if (from.required && !to.required) yield { keys: [], what: `${name} may be absent now`, breaks: "readers" };
  for (const finding of schemas.compare(from.json, to.json, name)) {
    yield { ...finding, what: `${name}: ${finding.what}` };
  }
}

function* compareMessages(
  kind: RouteMessage["kind"],
  from: Route,
  to: Route,
  schemas: SchemaComparison,
  address: string,
): Generator<Change> {
  const parties = routeParties(from, kind);
  const change = (finding: Omit<Finding, "keys">, keys: ReadonlyArray<string | number>) => {
    const place = { file: RELAY_FILE, pointer: pointerTo(...keys), subject: address, parties };
    return toChange(place, finding);
  };
  const before = messagesOf(from, kind);
  const after = messagesOf(to, kind);
  for (const [key, message] of before) {
    const keys = ["components", "messages", message.name];
    const now = after.get(key);
    if (now === undefined) {
      const isRefusal = (message.status ?? 0) >= 400;
      yield change({ what: `${kind} ${key} removed`, breaks: isRefusal ? "nobody" : "senders" }, keys);
      continue;
    }
    if (message.contentType !== now.contentType) {
      const what = `${kind} ${key}: content type ${shown(message.contentType)} became ${shown(now.contentType)}`;
      yield change({ what, breaks: "both" }, [...keys, "contentType"]);
    }
    if (isSame(message.payload, now.payload)) continue;
    for (const finding of schemas.compare(message.payload ?? {}, now.payload ?? {})) {
      yield change({ ...finding, what: `${kind} ${key}: ${finding.what}` }, [...keys, "payload", ...finding.keys]);
    }
  }
  for (const [key, message] of after) {
    if (before.has(key)) continue;
    // Readers judge a refusal they do not know by its status.
    const isRefusal = (message.status ?? 0) >= 400;
    const finding = { what: `new ${kind} ${key}`, breaks: isRefusal ? "nobody" : "readers" } as const;
    yield change(finding, ["components", "messages", message.name]);
  }
}

/** A message is known by its status; where several share one, or a request has none, by its name as well. */
function messagesOf(route: Route, kind: RouteMessage["kind"]): Map<string, RouteMessage> {
  const messages = new Map<string, RouteMessage>();
  for (const message of route.messages.filter((candidate) => candidate.kind === kind)) {
    const key = message.status === undefined ? "body" : String(message.status);
    messages.set(messages.has(key) ? `${key} ${message.name}` : key, message);
  }
  return messages;
}
