import { HumanPlusError } from "../error.ts";
import { type RouteName, routes } from "../gen/routes.ts";
import { readRelayRefusal } from "../relay-refusal.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface RefusedAnswer {
  route: RouteName;
  host: string;
  status: number;
  /** As text, bounded. No word of it gets into the error. */
  body: string;
  retryAfter: string | undefined;
}

/** The error for an answer that is no success. PROTOCOL.md section 3. */
export function refusalError({ route, host, status, body, retryAfter }: RefusedAnswer): HumanPlusError {
  const { error, outcome, retryable, relayCode } = readRelayRefusal(status, body);
  const { method, address } = routes[route];
  const said = relayCode === undefined ? `${status}` : `${status} ${relayCode}`;
  return new HumanPlusError(error, `${host} answered ${method} ${address} with ${said}${hint(route, status)}`, {
    outcome,
    retryable,
    retryAfterMs: retryable ? retryAfterMs(retryAfter) : undefined,
  });
}

function hint(route: RouteName, status: number): string {
  if (status >= 300 && status < 400) return ": redirects are never followed, because the token would go with them";
  if (status !== 404 && status !== 405) return "";
  switch (route) {
    case "poll":
      return ': the relay may offer the dialect "outbox" instead';
    case "pollOutbox":
      return ': the relay may offer the dialect "poll" instead';
    default:
      return ": is relayBaseUrl right, and is there a relay?";
  }
}
