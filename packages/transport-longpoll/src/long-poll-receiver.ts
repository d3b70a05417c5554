import { type Demand, HumanPlusError, limits, type Receiver, type RelayLink } from "@human-plus/core/protocol";
import type { RelayEndpoint } from "@human-plus/core/relay";
import type { Dialect } from "./poll-batch.ts";
import { createPollLoop } from "./poll-loop.ts";

export interface LongPollOptions {
  /**
   * How the relay wants to be polled. `auto` asks in dialect "outbox", changes to "poll" where the relay has no such
   * route, and remembers it for each relay.
   *
   * @default "auto"
   */
  dialect?: Dialect | "auto" | undefined;
  /**
   * The path of the polls below the session, such as `frames/next`, for a relay that does not have them where the
   * contract does. With `auto` it is the path of dialect "outbox". @default the contract's
   */
  pollPath?: string | undefined;
  /**
   * How long one poll asks the relay to wait, in milliseconds; never longer than somebody waits for a reply, and at most
   * 25 s. The relay may answer sooner. Dialect "outbox" knows whole seconds. @default 5_000
   */
  pollWaitMs?: number | undefined;
}

const DIALECTS: readonly unknown[] = ["auto", "outbox", "poll"] satisfies readonly NonNullable<
  LongPollOptions["dialect"]
>[];
const PATH = /^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/;

/**
 * Receives frames by polling: one request at a time for each link. PROTOCOL.md section 2.3.
 *
 * @throws HumanPlusError `invalid_argument`
 */
export function createLongPollReceiver(
  endpoint: Pick<RelayEndpoint, "poll">,
  { dialect = "auto", pollPath, pollWaitMs = limits.pollWaitMs }: LongPollOptions = {},
): Receiver {
  if (!DIALECTS.includes(dialect)) throw invalid('dialect should be "outbox", "poll" or "auto"');
  if (pollPath !== undefined && !PATH.test(pollPath))
    throw invalid("pollPath should be segments of letters, digits, - and _, without a slash at either end");
  if (!(pollWaitMs > 0)) throw invalid("pollWaitMs should be a number above 0");
  const waitMs = Math.min(pollWaitMs, limits.pollWaitMaxMs);
  /** The dialect of each relay that was asked in both. */
  const known = new Map<string, Dialect>();

  return {
    async open(link, { after, signal, demand }) {
      const origin = originOf(link);
      const isChoosing = dialect === "auto" && !known.has(origin);
      const loop = createPollLoop({
        after,
        demand,
        signal,
        dialect: dialect === "auto" ? (known.get(origin) ?? "outbox") : dialect,
        otherDialect: isChoosing ? "poll" : undefined,
        onDialect: (found) => known.set(origin, found),
        waitMs: (spoken) => waitFor(spoken, waitMs, demand),
        poll: (spoken, options) =>
          endpoint.poll(link, {
            ...options,
            route: spoken === "poll" ? "poll" : "pollOutbox",
            path: spoken === "outbox" || dialect === "poll" ? pollPath : undefined,
          }),
      });
      await loop.opened();
      return { silent: false, [Symbol.asyncIterator]: () => loop.deliveries() };
    },
  };
}

/** Never longer than somebody waits: a worker of the relay is not kept for nobody. */
function waitFor(dialect: Dialect, waitMs: number, demand: Demand): number {
  const remainingMs = demand.remainingMs();
  if (dialect === "poll") return Math.floor(Math.min(waitMs, remainingMs));
  return Math.floor(Math.min(Math.max(waitMs, 1_000), remainingMs) / 1_000) * 1_000;
}

function originOf({ invitation }: RelayLink): string {
  const { relayBaseUrl } = invitation;
  // What is no URL is refused by the endpoint, which is asked next.
  return URL.canParse(relayBaseUrl) ? new URL(relayBaseUrl).origin : relayBaseUrl;
}

function invalid(message: string): HumanPlusError {
  return new HumanPlusError("invalid_argument", message);
}
