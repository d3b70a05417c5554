import { eventStream, routes } from "@human-plus/core/protocol";

/** Browsers of these origins may use the relay: `"*"` for all of them, else a list of origins (`https://host[:port]`). */
export type CorsOrigins = "*" | readonly string[];

type Headers = Readonly<Record<string, string>>;

/** Decides about origins. An origin that is not listed never gets a header, and is never reflected. */
export interface Cors {
  /** Headers for an answer to this origin. */
  answerHeaders(origin: string | undefined): Headers;
  /** Headers for the answer to `OPTIONS`. */
  preflightHeaders(origin: string | undefined): Headers;
}

const NONE: Headers = {};
const EXPOSED = { "access-control-expose-headers": "retry-after" };
const PREFLIGHT = {
  "access-control-allow-methods": [...new Set(Object.values(routes).map(({ method }) => method))].join(", "),
  "access-control-allow-headers": ["content-type", "authorization", "cache-control", eventStream.cursorHeader].join(
    ", ",
  ),
  "access-control-max-age": "7200",
};

/** @throws RangeError for an entry that is no origin */
export function createCors(origins: CorsOrigins): Cors {
  if (origins === "*") {
    const headers = { "access-control-allow-origin": "*", ...EXPOSED };
    const preflight = { ...headers, ...PREFLIGHT };
    return { answerHeaders: () => headers, preflightHeaders: () => preflight };
  }
  const listed = new Map<string, Headers>();
  for (const origin of origins) {
    listed.set(assertOrigin(origin), { "access-control-allow-origin": origin, vary: "origin", ...EXPOSED });
  }
  // A cache must not hand the answer for one origin to another one, so the ones without headers vary too.
  const others: Headers = listed.size === 0 ? NONE : { vary: "origin" };
  const answerHeaders = (origin: string | undefined) =>
    (origin === undefined ? undefined : listed.get(origin)) ?? others;
  return {
    answerHeaders,
    preflightHeaders(origin) {
      const headers = answerHeaders(origin);
      return headers === others ? others : { ...headers, ...PREFLIGHT };
    },
  };
}

function assertOrigin(origin: string): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  throw new RangeError(
    `${JSON.stringify(origin)} is no origin: write scheme, host and port only, such as "https://app.example", or "*" alone for all`,
  );
}
