import { HumanPlusError } from "../error.ts";
import { eventStream, limits } from "../gen/constants.ts";
import type { RouteName } from "../gen/routes.ts";
import type { SendResult } from "../transport.ts";
import { connectionFailure } from "./connection-failure.ts";
import type { AnswerHead } from "./http-request.ts";
import type { PollResult } from "./poll.ts";
import type { PostResult } from "./post.ts";
import { refusalError } from "./refusal.ts";
import type { ByteStream, StreamResult } from "./stream.ts";

export const JSON_TYPE = "application/json";
const COMPRESSED = "is compressed, although it was asked not to be";

export type PollAnswer =
  /** The body as text; `""` for an empty poll. */
  | { readonly kind: "answered"; readonly body: string }
  /** The relay has no such route: it may have the other dialect. */
  | { readonly kind: "missing"; readonly error: HumanPlusError };

/** @throws HumanPlusError */
export function readSent(result: PostResult, route: RouteName, host: string): SendResult {
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

/** @throws HumanPlusError */
export function readStream(result: StreamResult, host: string): ByteStream {
  switch (result.kind) {
    case "aborted":
      throw new HumanPlusError("aborted", "the event stream was aborted before it opened", { outcome: "not_applied" });
    case "broken":
      throw openFailure(result, host);
    case "refused":
      throw refusalOf(result, "streamEvents", host);
    case "open":
      if (!result.head.isEncoded && isStream(result.head)) return result.stream;
      result.stream.close();
      throw unusable(host, result.head.isEncoded ? COMPRESSED : `is no event stream (${eventStream.contentType})`);
    default:
      throw result satisfies never;
  }
}

/** @throws HumanPlusError */
export function readPoll(result: PollResult, route: "pollOutbox" | "poll", host: string): PollAnswer {
  switch (result.kind) {
    case "aborted":
      throw new HumanPlusError("aborted", `the poll of ${host} was aborted`, { outcome: "not_applied" });
    case "broken":
      throw legFailure(result, host);
    case "answered": {
      const { head, body, isTooLarge } = result;
      const { status } = head;
      if (status >= 300) {
        const error = refusalOf(result, route, host);
        const isMissing = (status === 404 || status === 405) && error.code === "relay_protocol_error";
        if (isMissing) return { kind: "missing", error };
        throw error;
      }
      if (status === 204) return { kind: "answered", body: "" };
      if (head.isEncoded) throw unusable(host, COMPRESSED);
      if (status !== 200) throw unusable(host, `has status ${status}`);
      if (isTooLarge) throw unusable(host, `has more than ${limits.pollAnswerBytes} bytes`);
      if (isStream(head)) throw unusable(host, "is an event stream, although none was asked for");
      if (body.trim() !== "" && !isJson(head)) throw unusable(host, `is not JSON (${JSON_TYPE})`);
      return { kind: "answered", body };
    }
    default:
      throw result satisfies never;
  }
}

/** What ends by itself. A stream, or what nobody can read, is not waited for. */
export function isReadable(head: AnswerHead): boolean {
  return !head.isEncoded && !isStream(head);
}

function isStream({ contentType }: AnswerHead): boolean {
  return mediaType(contentType) === eventStream.contentType;
}

function isJson({ contentType }: AnswerHead): boolean {
  const type = mediaType(contentType);
  return type === JSON_TYPE || type.endsWith("+json");
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

function openFailure(broken: { sent: boolean; error: unknown }, host: string): HumanPlusError {
  const { sent, error } = broken;
  const failure = legFailure(broken, host);
  const isSilent = sent && (error as { code?: unknown } | undefined)?.code === "UND_ERR_HEADERS_TIMEOUT";
  if (isSilent) {
    return new HumanPlusError(
      "stream_buffered",
      `the connection to ${host} stands, but the event stream never began: it looks as if something on the way (a proxy, say) buffers it. Use long polling, @human-plus/transport-longpoll`,
      { outcome: "not_applied", cause: failure.cause },
    );
  }
  return failure;
}

/** A leg carries no call: whatever broke, it may be opened again. */
function legFailure({ sent, error }: { sent: boolean; error: unknown }, host: string): HumanPlusError {
  const { code, message, retryable, cause } = connectionFailure(error, { host, sent });
  return new HumanPlusError(code, message, {
    outcome: "not_applied",
    retryable: retryable || code === "relay_failed",
    cause,
  });
}

function unusable(host: string, what: string, outcome: "not_applied" | "unknown" = "not_applied"): HumanPlusError {
  return new HumanPlusError("relay_protocol_error", `the answer of ${host} ${what}`, { outcome });
}

function mediaType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}
