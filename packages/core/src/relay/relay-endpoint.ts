import { HumanPlusError } from "../error.ts";
import { eventStream, limits, authentication as placement } from "../gen/constants.ts";
import {
  pollOutboxUrl,
  pollUrl,
  type RouteName,
  routes,
  sendToSurfaceUrl,
  streamEventsUrl,
  unregisterUrl,
} from "../gen/routes.ts";
import { utf8Length } from "../parse/json.ts";
import type { OpenOptions, RelayLink, Sender, SendResult } from "../transport.ts";
import { isReadable, JSON_TYPE, type PollAnswer, readPoll, readSent, readStream } from "./answer.ts";
import type { Lookup } from "./checked-lookup.ts";
import type { TcpConnect } from "./connector.ts";
import { createDispatchers } from "./dispatchers.ts";
import { createEgressPolicy, type EgressPolicyOptions } from "./egress.ts";
import type { HttpRequest } from "./http-request.ts";
import { runPoll } from "./poll.ts";
import { post } from "./post.ts";
import { type ByteStream, openStream } from "./stream.ts";

export interface RelayEndpointOptions extends EgressPolicyOptions {
  /** Where the token goes: into the query, which every relay takes, or into an `Authorization` header. Never both. @default "query" */
  authentication?: "query" | "bearer" | undefined;
  /**
   * What detaching does. `unregister` tells the relay; `leave` sends nothing, for relays that end the session for
   * everybody when one agent unregisters.
   *
   * @default "unregister"
   */
  detach?: "unregister" | "leave" | undefined;
  /** How long opening one connection may take, in milliseconds. @default 10_000 */
  connectTimeoutMs?: number | undefined;
  /**
   * With `egress: { direct: "pinned" }`, how long connections that are kept may be used before the name is looked up
   * again, in milliseconds; 0 is before every request. They end when the name no longer has the address they lead to,
   * or has one that is refused.
   *
   * @default 5_000
   */
  recheckMs?: number | undefined;
  /** Looks names up, where this process does. @default the look-up of the system */
  lookup?: Lookup | undefined;
  /** Makes TCP connections: to relays, or to the proxy. @default net.connect */
  connect?: TcpConnect | undefined;
  /** Told once that no address is checked, with `egress: { unverified: true }`. @default process.emitWarning */
  onWarning?: ((message: string) => void) | undefined;
  /** How long an event stream may be without a byte, in milliseconds. Relays send a comment every 15 s. @default 45_000 */
  silenceTimeoutMs?: number | undefined;
}

/** The one place that builds the URLs of relays and opens connections to them. What it may not reach gets no byte. */
export interface RelayEndpoint extends Sender {
  /** Opens the event stream of a link. @throws HumanPlusError */
  openEvents(link: RelayLink, options: Omit<OpenOptions, "demand">): Promise<ByteStream>;
  /** Polls once, in one of the two dialects. @throws HumanPlusError */
  poll(link: RelayLink, options: PollOptions): Promise<PollAnswer>;
}

export interface PollOptions {
  /** The route, and with it the dialect. */
  route: "pollOutbox" | "poll";
  /** Where a relay has the route, below its session, if not where the contract has it. */
  path?: string | undefined;
  /** How long the relay may wait, in milliseconds. Dialect "outbox" takes whole seconds: what is over is cut off. */
  waitMs: number;
  /** What the last answer said to continue with: a cursor in dialect "outbox", a subscriber in dialect "poll". */
  from: string | undefined;
  /** Closes the poll. */
  signal: AbortSignal;
  /** The request is on its way. */
  onSent?: (() => void) | undefined;
}

/** @throws HumanPlusError `invalid_argument` */
export function createRelayEndpoint({
  authentication = "query",
  detach = "unregister",
  connectTimeoutMs = limits.connectTimeoutMs,
  silenceTimeoutMs = 3 * limits.sseKeepAliveMs,
  recheckMs = 5_000,
  lookup,
  connect,
  onWarning = (message) => process.emitWarning(message, { code: WARNING_CODE }),
  ...egress
}: RelayEndpointOptions): RelayEndpoint {
  const policy = createEgressPolicy(egress);
  assertOneOf("authentication", authentication, ["query", "bearer"]);
  assertOneOf("detach", detach, ["unregister", "leave"]);
  const { mode } = policy;
  const { posts, streams, polls, close } = createDispatchers({ mode, lookup, connect, connectTimeoutMs, recheckMs });
  if (mode.kind === "unverified") onWarning(UNVERIFIED);
  const timeouts = { headersTimeout: silenceTimeoutMs, bodyTimeout: silenceTimeoutMs };

  /** Checks the address again for every request, and puts the token in its one place. */
  function prepare(
    { invitation, client }: RelayLink,
    route: RouteName,
    build: typeof unregisterUrl,
    headers: readonly string[],
    body?: string,
  ): { request: HttpRequest; host: string } {
    const { relayBaseUrl, sessionId } = invitation;
    policy.check(relayBaseUrl);
    const token = invitation.exposeToken();
    const isBearer = authentication === "bearer";
    const url = new URL(build(relayBaseUrl, sessionId, { client, token: isBearer ? undefined : token }));
    const request: HttpRequest = {
      method: routes[route].method,
      origin: url.origin,
      path: url.pathname + url.search,
      headers: isBearer ? [...headers, "authorization", `${placement.headerScheme} ${token}`] : headers,
      body,
    };
    return { request, host: url.host };
  }

  async function postTo(
    link: RelayLink,
    route: RouteName,
    build: typeof unregisterUrl,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { request, host } = prepare(link, route, build, POST_HEADERS, body);
    return readSent(await post(posts, request, signal), route, host);
  }

  return {
    async send(link, frame, { signal }) {
      return postTo(link, "sendToSurface", sendToSurfaceUrl, frameText(frame), signal);
    },

    async unregister(link, { signal }) {
      if (detach === "leave") return;
      try {
        const result = await postTo(link, "unregister", unregisterUrl, undefined, signal);
        if (result.kind === "unconfirmed") throw result.error;
      } catch (error) {
        if (!(error instanceof HumanPlusError) || error.code !== "surface_unavailable") throw error;
      }
    },

    async openEvents(link, { after, signal, onConnect }) {
      const headers = after === undefined ? STREAM_HEADERS : [...STREAM_HEADERS, eventStream.cursorHeader, after];
      const build: typeof unregisterUrl = (base, session, query) =>
        streamEventsUrl(base, session, { ...query, direction: "outbound" });
      const { request, host } = prepare(link, "streamEvents", build, headers);
      return readStream(await openStream(streams, request, { timeouts, signal, onConnect }), host);
    },

    async poll(link, { route, path, waitMs, from, signal, onSent }) {
      const build: typeof unregisterUrl = (base, session, query) => {
        const asked = { ...query, direction: "outbound" } as const;
        const url =
          route === "poll"
            ? pollUrl(base, session, { ...asked, wait: waitMs, subscriber: from })
            : pollOutboxUrl(base, session, { ...asked, wait: Math.floor(waitMs / 1_000), after: from });
        return path === undefined ? url : withPath(url, routes[route].address, path);
      };
      const { request, host } = prepare(link, route, build, POLL_HEADERS);
      const timeoutMs = waitMs + POLL_SLACK_MS;
      return readPoll(await runPoll(polls, request, { timeoutMs, signal, onSent, isReadable }), route, host);
    },

    close,
  };
}

const WARNING_CODE = "HUMAN_PLUS_UNVERIFIED_EGRESS";
const UNVERIFIED =
  'egress is { unverified: true }: no address of a relay is checked, which is for work on your own machine. Elsewhere use { proxy } or { direct: "pinned" }';
const POST_HEADERS = ["content-type", JSON_TYPE, "accept", JSON_TYPE, "accept-encoding", "identity"];
const POLL_HEADERS = ["accept", JSON_TYPE, "accept-encoding", "identity", "cache-control", "no-cache"];
/** How much longer than asked for an answer to a poll may take. */
const POLL_SLACK_MS = 10_000;
const STREAM_HEADERS = ["accept", eventStream.contentType, "accept-encoding", "identity", "cache-control", "no-cache"];

/** @throws HumanPlusError, nothing having been sent */
function frameText(frame: unknown): string {
  const text = jsonText(frame);
  if (text === undefined) throw new HumanPlusError("invalid_argument", "the frame cannot be written as JSON");
  if (text.length * 3 > limits.frameBytes && utf8Length(text) > limits.frameBytes)
    throw new HumanPlusError("frame_too_large", `the frame has more than ${limits.frameBytes} bytes`);
  return text;
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // a cycle, a bigint: the engine's message quotes the value
  }
}

/** A URL of a route that a relay has elsewhere below the session. */
function withPath(url: string, address: string, path: string): string {
  const found = new URL(url);
  const end = address.slice(address.lastIndexOf("/") + 1);
  found.pathname = found.pathname.slice(0, -end.length) + path;
  return found.href;
}

function assertOneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value))
    throw new HumanPlusError(
      "invalid_argument",
      `${name} should be ${allowed.map((word) => `"${word}"`).join(" or ")}`,
    );
}
