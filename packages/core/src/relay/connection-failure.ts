import { HumanPlusError } from "../error.ts";

/**
 * What broke, without what it broke on: errors of HTTP clients may hold the request, and with it the token, so that
 * none of them is ever kept as a cause.
 */
class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: string;

  constructor(code: string, text: string) {
    super(`${text} (${code})`);
    this.code = code;
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed while something was sent",
  ENOTFOUND: "the host has no address",
  EAI_AGAIN: "the name of the host could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "no connection within the time allowed",
  UND_ERR_HEADERS_TIMEOUT: "no answer within the time allowed",
  UND_ERR_BODY_TIMEOUT: "the answer stopped",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too large",
  UND_ERR_ABORTED: "the connection was aborted",
  CLOSED: "the connection was given up",
  LOOKUP_FAILED: "the name of the host could not be looked up",
  ADDRESS_REFUSED: "an address of the host is not a public one",
  TOO_MANY_ADDRESSES: "the host has more addresses than a relay has",
  PROXY_UNREACHABLE: "the proxy cannot be reached",
  PROXY_TLS: "the proxy could not be reached over TLS",
  PROXY_NO_HTTP: "the proxy did not answer in HTTP",
  PROXY_CLOSED: "the proxy closed the connection without an answer",
  PROXY_SILENT: "the proxy did not answer within the time allowed",
  PROXY_ANSWERED_407: "the proxy wants other credentials: see egress.proxy",
};

/** What stays refused however often it is tried: by the address policy, or by a proxy that says no. */
const REFUSED = /^(ADDRESS_REFUSED|TOO_MANY_ADDRESSES|PROXY_ANSWERED_4(?!08|29)\d\d)$/;

/** A failure of a connection, judged by whether anything may have left on it. */
export function connectionFailure(error: unknown, { host, sent }: { host: string; sent: boolean }): HumanPlusError {
  const cause = safeCause(error);
  if (!sent) {
    if (REFUSED.test(cause.code))
      return new HumanPlusError("endpoint_refused", `${host} is not connected to: ${cause.message}`, { cause });
    return new HumanPlusError("relay_unreachable", `no connection to ${host}: ${cause.message}`, { cause });
  }
  if (cause.code.startsWith("HPE_") || cause.code === "UND_ERR_HEADERS_OVERFLOW") {
    return new HumanPlusError("relay_protocol_error", `${host} did not answer in HTTP: ${cause.message}`, {
      outcome: "unknown",
      cause,
    });
  }
  return new HumanPlusError("relay_failed", `the connection to ${host} broke: ${cause.message}`, { cause });
}

function safeCause(error: unknown): ConnectionError {
  const code = codeOf(error);
  return new ConnectionError(code, TEXTS[code] ?? textOf(code));
}

function textOf(code: string): string {
  if (code.startsWith("HPE_")) return "the answer is no HTTP";
  if (code.startsWith("PROXY_ANSWERED_4")) return "the proxy refuses to connect to the host";
  if (code.startsWith("PROXY_ANSWERED_")) return "the proxy did not connect to the host";
  return "the connection failed";
}

/** The code of an error, or of the first error inside it, if it is a code and nothing else. */
function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code;
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return "UNKNOWN";
}
