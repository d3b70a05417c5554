import { Agent, type buildConnector } from "undici";
import { isPublicAddress } from "./address-policy.ts";
import { createCheckedLookup, type Lookup } from "./checked-lookup.ts";
import { ConnectError } from "./connect-error.ts";
import { type ConnectorOptions, createConnector, type TcpConnect } from "./connector.ts";
import { createDirectRoute } from "./direct-route.ts";
import type { EgressMode } from "./egress.ts";
import type { RequestCarrier } from "./http-request.ts";
import { createKeptConnections } from "./kept-connections.ts";
import { createTunnelRoute } from "./tunnel-route.ts";

export interface DispatchersOptions {
  mode: EgressMode;
  lookup?: Lookup | undefined;
  connect?: TcpConnect | undefined;
  connectTimeoutMs: number;
  recheckMs: number;
}

/** Connections to relays, for each kind of request its own. */
export interface Dispatchers {
  /** For frames: kept alive between them, one request at a time on each. */
  readonly posts: RequestCarrier;
  /** For streams: each stream has its own, and none keeps the process alive. */
  readonly streams: RequestCarrier;
  /** For polls: kept alive from one poll to the next, and none keeps the process alive. */
  readonly polls: RequestCarrier;
  close(): Promise<void>;
}

/** Bytes the headers of an answer may have, of a relay as of a proxy. */
const MAX_HEADER_BYTES = 16_384;

export function createDispatchers({
  mode,
  lookup,
  connect,
  connectTimeoutMs: timeoutMs,
  recheckMs,
}: DispatchersOptions): Dispatchers {
  const closing = new AbortController();
  const checked = createCheckedLookup({ lookup, timeoutMs });
  const isPinned = mode.kind === "pinned";
  const route =
    mode.kind === "proxy"
      ? createTunnelRoute({ proxy: mode.proxy, maxHeaderBytes: MAX_HEADER_BYTES })
      : createDirectRoute({ lookup: checked, isPinned });
  const connector = (keepsAlive: boolean, { onConnect }: Pick<ConnectorOptions, "onConnect"> = {}) =>
    createConnector({ route, connect, timeoutMs, keepsAlive, closing: closing.signal, onConnect });

  function kept(keepsAlive: boolean): RequestCarrier {
    // Elsewhere no address is checked here: what a name answers next would change nothing.
    if (!isPinned) return createAgent(connector(keepsAlive));
    return createKeptConnections({
      createAgent,
      createConnector: (options) => connector(keepsAlive, options),
      lookup: checked,
      accepts: isPublicAddress,
      recheckMs,
    });
  }

  const posts = kept(true);
  const streams = createAgent(connector(false), 0);
  const polls = kept(false);
  return {
    posts,
    streams,
    polls,
    async close() {
      closing.abort(new ConnectError("CLOSED"));
      await Promise.all([posts.destroy(), streams.destroy(), polls.destroy()]);
    },
  };
}

function createAgent(connect: buildConnector.connector, pipelining: 0 | 1 = 1): Agent {
  return new Agent({ maxHeaderSize: MAX_HEADER_BYTES, allowH2: false, pipelining, connect });
}
