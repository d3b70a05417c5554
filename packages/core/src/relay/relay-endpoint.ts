import { HumanPlusError } from "../error.ts";
import { eventStream, limits, authentication as placement } from "../gen/constants.ts";
import { type RouteName, routes, sendToSurfaceUrl, streamEventsUrl, unregisterUrl } from "../gen/routes.ts";
import { utf8Length } from "../parse/json.ts";
import type { OpenOptions, RelayLink, Sender, SendResult } from "../transport.ts";
import { connectionFailure } from "./connection-failure.ts";
import { createPostDispatcher, createStreamDispatcher } from "./dispatchers.ts";
import { createEgressPolicy, type EgressPolicyOptions } from "./egress.ts";
import type { HttpRequest } from "./http-request.ts";
import { type PostResult, post } from "./post.ts";
import { refusalError } from "./refusal.ts";
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
  /** How long an event stream may be without a byte, in milliseconds. Relays send a comment every 15 s. @default 45_000 */
  silenceTimeoutMs?: number | undefined;
}

/** The one place that builds the URLs of relays and opens connections to them. What it may not reach gets no byte. */
export interface RelayEndpoint extends Sender {
  /** Opens the event stream of a link. @throws HumanPlusError */
  openEvents(link: RelayLink, options: OpenOptions): Promise<ByteStream>;
}

/** @throws HumanPlusError `invalid_argument` */
export function createRelayEndpoint({
  authentication = "query",
  detach = "unregister",
  connectTimeoutMs = limits.connectTimeoutMs,
  silenceTimeoutMs = 3 * limits.sseKeepAliveMs,
  ...egress
}: RelayEndpointOptions): RelayEndpoint {
  const policy = createEgressPolicy(egress);
  assertOneOf("authentication", authentication, ["query", "bearer"]);
  assertOneOf("detach", detach, ["unregister", "leave"]);
  const posts = createPostDispatcher({ proxy: policy.proxy, connectTimeoutMs });
  const streams = createStreamDispatcher({ proxy: policy.proxy, connectTimeoutMs });
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
    return readResult(await post(posts, request, signal), route, host);
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
      const result = await openStream(streams, request, { timeouts, signal, onConnect });
      switch (result.kind) {
        case "aborted":
          throw new HumanPlusError("aborted", "the event stream was aborted before it opened", {
            outcome: "not_applied",
          });
        case "broken":
          throw openFailure(result, host);
        case "refused":
          throw refusalOf(result, "streamEvents", host);
        case "open":
          if (!result.head.isEncoded && isEventStream(result.head.contentType)) return result.stream;
          result.stream.close();
          throw unusable(host, result.head.isEncoded ? COMPRESSED : `is no event stream (${eventStream.contentType})`);
        default:
          throw result satisfies never;
      }
    },

    async close() {
      await Promise.all([posts.destroy(), streams.destroy()]);
    },
  };
}

const POST_HEADERS = ["content-type", "application/json", "accept", "application/json", "accept-encoding", "identity"];
const STREAM_HEADERS = ["accept", eventStream.contentType, "accept-encoding", "identity", "cache-control", "no-cache"];
const COMPRESSED = "is compressed, although it was asked not to be";

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

function readResult(result: PostResult, route: RouteName, host: string): SendResult {
  switch (result.kind) {
    case "aborted":
      throw new HumanPlusError("aborted", `the request to ${host} was aborted`, {
        outcome: result.sent ? "unknown" : "not_applied",
      });
    case "broken": {
      const error = connectionFailure(result.error, { host, sent: result.sent });
      if (error.code !== "relay_failed") throw error;
      return { kind: "unconfirmed", error };
    }
    case "answered": {
      const { head, body, isTooLarge } = result;
      if (head.isEncoded) throw unusable(host, COMPRESSED, "unknown");
      if (head.status >= 300) throw refusalOf({ head, body }, route, host);
      if (isTooLarge) throw unusable(host, "is larger than an answer may be", "unknown");
      return { kind: "accepted" };
    }
    default:
      throw result satisfies never;
  }
}

function refusalOf(
  { head, body }: { head: { status: number; retryAfter: string | undefined; isEncoded: boolean }; body: string },
  route: RouteName,
  host: string,
): HumanPlusError {
  if (head.status < 300) return unusable(host, `has status ${head.status}`);
  return refusalError({
    route,
    host,
    status: head.status,
    body: head.isEncoded ? "" : body,
    retryAfter: head.retryAfter,
  });
}

/** A leg that does not open carries no call: whatever broke, it may be tried again. */
function openFailure({ sent, error }: { sent: boolean; error: unknown }, host: string): HumanPlusError {
  const { code, message, cause } = connectionFailure(error, { host, sent });
  const isSilent = sent && (error as { code?: unknown } | undefined)?.code === "UND_ERR_HEADERS_TIMEOUT";
  if (isSilent) {
    return new HumanPlusError(
      "stream_buffered",
      `the connection to ${host} stands, but the event stream never began: it looks as if something on the way (a proxy, say) buffers it. Use long polling, @human-plus/transport-longpoll`,
      { outcome: "not_applied", cause },
    );
  }
  return new HumanPlusError(code, message, {
    outcome: "not_applied",
    retryable: code !== "relay_protocol_error",
    cause,
  });
}

function unusable(host: string, what: string, outcome: "not_applied" | "unknown" = "not_applied"): HumanPlusError {
  return new HumanPlusError("relay_protocol_error", `the answer of ${host} ${what}`, { outcome });
}

function isEventStream(contentType: string): boolean {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === eventStream.contentType;
}

function assertOneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value))
    throw new HumanPlusError(
      "invalid_argument",
      `${name} should be ${allowed.map((word) => `"${word}"`).join(" or ")}`,
    );
}
