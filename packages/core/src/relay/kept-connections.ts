import type { Socket } from "node:net";
import type { Agent, buildConnector } from "undici";
import { literalAddress } from "./address-policy.ts";
import type { CheckedLookup } from "./checked-lookup.ts";
import { ConnectError } from "./connect-error.ts";
import type { ConnectorOptions } from "./connector.ts";
import type { RequestCarrier } from "./http-request.ts";

export interface KeptConnectionsOptions {
  createAgent: (connect: buildConnector.connector) => Agent;
  createConnector: (options: Pick<ConnectorOptions, "onConnect">) => buildConnector.connector;
  lookup: CheckedLookup;
  accepts: (address: string) => boolean;
  /** How long an answer holds for connections that are kept, in milliseconds. */
  recheckMs: number;
  now?: (() => number) | undefined;
}

/** The connections to one host, and the addresses at their other ends. */
interface Host {
  readonly agent: Agent;
  readonly sockets: Map<Socket, string>;
  checkedAt: number;
  checking: Promise<unknown> | undefined;
}

/**
 * Connections that are kept from one request to the next only while the name still has the address they lead to. A
 * name is looked up again before a request when its last answer is older than `recheckMs`, and any answer that leaves
 * an address out, or has one that is refused, ends what was kept: requests under way finish, and no other follows.
 */
export function createKeptConnections({
  createAgent,
  createConnector,
  lookup,
  accepts,
  recheckMs,
  now = () => performance.now(),
}: KeptConnectionsOptions): RequestCarrier {
  const hosts = new Map<string, Host>();
  const retired = new Set<Agent>();
  let isDestroyed = false;

  lookup.onAnswer((hostname, addresses) => {
    const host = hosts.get(hostname);
    if (host === undefined) return;
    host.checkedAt = now();
    if (addresses === undefined || [...host.sockets.values()].some((address) => !addresses.includes(address)))
      retire(hostname, host);
  });

  function open(hostname: string): Host {
    const onConnect: ConnectorOptions["onConnect"] = (socket, _, address) => {
      host.sockets.set(socket, address ?? "");
      socket.once("close", () => host.sockets.delete(socket));
    };
    const host: Host = {
      agent: createAgent(createConnector({ onConnect })),
      sockets: new Map(),
      checkedAt: now(),
      checking: undefined,
    };
    hosts.set(hostname, host);
    return host;
  }

  function retire(hostname: string, { agent }: Host): void {
    hosts.delete(hostname);
    retired.add(agent);
    agent
      .close()
      .catch(() => {}) // It was destroyed in between.
      .finally(() => retired.delete(agent));
  }

  function hostOf(hostname: string): Host {
    if (isDestroyed) throw new ConnectError("CLOSED");
    return hosts.get(hostname) ?? open(hostname);
  }

  return {
    dispatch(options, handler) {
      const { hostname } = new URL(String(options.origin));
      const host = hostOf(hostname);
      const holds =
        host.sockets.size === 0 || literalAddress(hostname) !== undefined || now() - host.checkedAt < recheckMs;
      if (holds) return host.agent.dispatch(options, handler);
      host.checking ??= lookup.resolve(hostname, accepts).finally(() => {
        host.checking = undefined;
      });
      host.checking
        .then(() => void hostOf(hostname).agent.dispatch(options, handler))
        .catch((error) => handler.onResponseError?.(undefined as never, error));
      return true;
    },
    async destroy() {
      isDestroyed = true;
      const agents = [...[...hosts.values()].map(({ agent }) => agent), ...retired];
      hosts.clear();
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}
