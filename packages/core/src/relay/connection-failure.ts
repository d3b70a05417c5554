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
  UND_ERR_PRX_TLS: "the proxy could not be reached over TLS",
};

/** A failure of a connection, judged by whether anything may have left on it. */
export function connectionFailure(error: unknown, { host, sent }: { host: string; sent: boolean }): HumanPlusError {
  const cause = safeCause(error);
  if (!sent) {
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
  return new ConnectionError(
    code,
    TEXTS[code] ?? (code.startsWith("HPE_") ? "the answer is no HTTP" : "the connection failed"),
  );
}

/** The code of an error, or of the first error inside it, if it is a code and nothing else. */
function codeOf(error: unknown): string {
  const { code, errors, cause } = (error ?? {}) as { code?: unknown; errors?: unknown; cause?: unknown };
  if (typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) {
    // What a proxy or a socket reports may be the wrapping of something that says more.
    const inner = cause === undefined ? "" : codeOf(cause);
    return code.startsWith("UND_ERR_PRX") && inner !== "" && inner !== "UNKNOWN" ? inner : code;
  }
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return "UNKNOWN";
}
