import { isRelayBaseUrl } from "@human-plus/core/protocol";
import { bindChecks, type CheckDefinition, type CheckList } from "../check.ts";
import { createQuoter } from "../quote.ts";
import { type Report, type RunOptions, runChecks } from "../report.ts";
import { browserChecks } from "./browser-checks.ts";
import { deliveryChecks } from "./delivery-checks.ts";
import { pollChecks } from "./poll-checks.ts";
import { RelayProbe } from "./relay-probe.ts";
import { routingChecks } from "./routing-checks.ts";
import { sessionChecks } from "./session-checks.ts";
import { streamChecks } from "./stream-checks.ts";

export interface RelayChecksOptions {
  /** The relay is on this machine or in a private network; plain http to loopback is then allowed. @default false */
  local?: boolean | undefined;
  /** How long one answer may take, in milliseconds. @default 10_000 */
  timeoutMs?: number | undefined;
  /** An origin whose browsers should be able to use the relay. @default CORS headers are not looked at */
  origin?: string | undefined;
}

export interface CheckRelayOptions extends RelayChecksOptions, RunOptions {}

const definitions: readonly CheckDefinition<RelayProbe>[] = [
  ...sessionChecks,
  ...streamChecks,
  ...routingChecks,
  ...deliveryChecks,
  ...pollChecks,
  ...browserChecks,
];

/**
 * The contract of a relay as checks. Each registers a session of its own, is its surface and its agents, and ends it.
 *
 * @param baseUrl the relay base URL
 * @throws TypeError if it is none
 */
export function relayChecks(
  baseUrl: string,
  { local = false, timeoutMs = 10_000, origin }: RelayChecksOptions = {},
): CheckList {
  const { checks } = createRelayChecks(baseUrl, { local, timeoutMs, origin });
  return checks;
}

/**
 * Holds the contract against a relay, several checks at a time.
 *
 * @throws UnreachableError if nothing answers there
 */
export async function checkRelay(
  baseUrl: string,
  { local = false, timeoutMs = 10_000, origin, concurrency = 8, level, onResult }: CheckRelayOptions = {},
): Promise<Report> {
  const { checks: list, probe } = createRelayChecks(baseUrl, { local, timeoutMs, origin });
  await using checks = list;
  await probe.assertReachable();
  return await runChecks(
    checks,
    { subject: "relay", target: baseUrl, transport: undefined },
    { concurrency, level, onResult },
  );
}

function createRelayChecks(
  baseUrl: string,
  { local, timeoutMs, origin }: { local: boolean; timeoutMs: number; origin: string | undefined },
): { checks: CheckList; probe: RelayProbe } {
  if (!isRelayBaseUrl(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError("a relay base URL is absolute, without credentials, query or fragment");
  if (!local && new URL(baseUrl).protocol !== "https:")
    throw new TypeError("a relay base URL is https; plain http is for relays on this machine, which are local");
  const tokens: string[] = [];
  const quoter = createQuoter(tokens);
  const probe = new RelayProbe({ baseUrl, local, timeoutMs, quoter, origin, onToken: (token) => tokens.push(token) });
  return { checks: bindChecks(definitions, probe, quoter, async () => probe.close()), probe };
}
