import {
  authentication,
  limits,
  matchRoute,
  type RelayErrorCode,
  type RouteName,
  routes,
} from "@human-plus/core/protocol";
import type { PollRequest } from "../broker/broker.ts";

/** A request to a relay: its route, and what its query and headers say. */
export interface RelayRequest extends PollRequest {
  readonly route: RouteName;
}

/** Why a request is none of the relay's. */
export interface BadRequest {
  readonly refusal: RelayErrorCode;
  /** Methods the path takes, if it is the method that is wrong. */
  readonly allowed?: readonly string[];
  /** The route, if one was found. */
  readonly route?: RouteName;
}

/** The headers a relay reads. */
export interface RequestHeaders {
  readonly authorization: string | undefined;
  /** The cursor of a reader that reconnects. */
  readonly cursor: string | undefined;
}

/** Longest path and query in characters; the longest the contract needs is below 1,000. */
const MAX_TARGET_LENGTH = 4_096;
const BEARER = `${authentication.headerScheme.toLowerCase()} `;
const SESSION_SUFFIXES = new Set(
  Object.values(routes).flatMap(({ address }) => (address.startsWith("/{session}") ? [address.slice(10)] : [])),
);

/**
 * Reads path, query and headers. PROTOCOL.md section 2.
 *
 * @param target path and query as the request line has them
 * @param mount where the relay is mounted: `""`, or a path that begins with a slash and does not end in one
 */
export function readRelayRequest(
  method: string,
  target: string,
  headers: RequestHeaders,
  mount: string,
): RelayRequest | BadRequest {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith(mount) || target.length > MAX_TARGET_LENGTH) return { refusal: "not_found" };
  const rest = path.slice(mount.length);
  if (rest !== "" && rest[0] !== "/") return { refusal: "not_found" };
  const match = matchRoute(method, rest);
  if (match.kind === "method_not_allowed") return { refusal: "method_not_allowed", allowed: match.allowed };
  if (match.kind === "not_found") return { refusal: namesNoSession(rest) ? "missing_session" : "not_found" };
  return readQuery(match.name, match.session, mark < 0 ? "" : target.slice(mark + 1), headers);
}

function namesNoSession(path: string): boolean {
  return SESSION_SUFFIXES.has(path) || (path.startsWith("//") && SESSION_SUFFIXES.has(path.slice(1)));
}

function readQuery(
  route: RouteName,
  session: string | undefined,
  query: string,
  headers: RequestHeaders,
): RelayRequest | BadRequest {
  const names: { readonly [name: string]: string } = routes[route].query;
  const given = new Map<string, string>();
  let isTokenRepeated = false;
  let isRepeated = false;
  for (const pair of query === "" ? [] : query.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return { refusal: "missing_fields", route };
    if (!Object.hasOwn(names, name)) continue; // readers ignore parameters they do not know
    if (given.has(name)) {
      if (name === authentication.queryParameter) isTokenRepeated = true;
      else isRepeated = true;
    }
    given.set(name, value);
  }
  const token = readToken(given.get(authentication.queryParameter), headers.authorization);
  if (token === null || isTokenRepeated) return { refusal: "invalid_token", route };
  const read = readReading(route, given, headers.cursor);
  if (read === undefined || isRepeated) return { refusal: "missing_fields", route };
  return { route, session, token, client: given.get("client" satisfies keyof typeof routes.poll.query), ...read };
}

/** The token, from the query or as a bearer token; `null` if it is given in both places, or in a way that is none. */
function readToken(inQuery: string | undefined, authorization: string | undefined): string | undefined | null {
  if (authorization === undefined) return inQuery;
  if (inQuery !== undefined) return null;
  return authorization.slice(0, BEARER.length).toLowerCase() === BEARER
    ? authorization.slice(BEARER.length).trim()
    : null;
}

type Reading = Pick<RelayRequest, "direction" | "cursor" | "waitMs" | "subscriber">;

/** What a receiving leg asks for; `undefined` if a value is none it can have. */
function readReading(route: RouteName, given: Map<string, string>, cursor: string | undefined): Reading | undefined {
  const direction = given.get("direction" satisfies keyof typeof routes.poll.query);
  if (direction !== undefined && direction !== "inbound" && direction !== "outbound") return undefined;
  if (route === "streamEvents") return { direction, cursor, waitMs: 0 };
  if (route !== "pollOutbox" && route !== "poll") return { direction, cursor: undefined, waitMs: 0 };
  const wait = given.get("wait" satisfies keyof typeof routes.poll.query);
  const asked = wait === undefined ? undefined : readWait(wait);
  if (wait !== undefined && asked === undefined) return undefined;
  if (route === "pollOutbox") {
    const after = given.get("after" satisfies keyof typeof routes.pollOutbox.query);
    if (after === "" || (after !== undefined && after.length > 256)) return undefined;
    const waitMs = asked === undefined ? limits.pollWaitMs : asked * 1_000;
    return { direction: "outbound", cursor: after, waitMs };
  }
  const id = given.get("subscriber" satisfies keyof typeof routes.poll.query);
  if (id !== undefined && !/^[0-9a-f]{16}$/.test(id)) return undefined;
  return { direction, cursor: undefined, waitMs: asked ?? limits.pollWaitMs, subscriber: { id } };
}

function readWait(text: string): number | undefined {
  const wait = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(wait) && wait >= 0 ? wait : undefined;
}

function decode(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
