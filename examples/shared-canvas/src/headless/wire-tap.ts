import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Stands between an agent and the relay, and keeps all that the agent sends. */
export interface WireTap extends AsyncDisposable {
  /** The link with the tap in the relay's place. */
  readonly shareLink: string;
  /** Connections that were opened. */
  readonly connections: number;
  /** Everything sent so far, as text. It holds the token. */
  sent(): string;
  /** Requests sent so far, as `METHOD /path` without the query, and JSON-RPC methods in their bodies. */
  requests(): readonly string[];
  /** Handles of the cards that calls of a tool named so far. */
  handlesIn(tool: string): readonly string[];
}

/** Opens a tap on loopback. Both ways pass through unchanged. */
export async function startWireTap(shareLink: string): Promise<WireTap> {
  const relay = new URL(shareLink);
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((agent) => {
    connections++;
    const upstream = connect(Number(relay.port), relay.hostname);
    for (const socket of [agent, upstream]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    }
    agent.on("data", (chunk) => chunks.push(chunk));
    agent.pipe(upstream).pipe(agent);
  });
  const port = await listen(server);
  const sent = () => Buffer.concat(chunks).toString("utf8");
  return {
    shareLink: Object.assign(new URL(shareLink), { port: String(port) }).href,
    get connections() {
      return connections;
    },
    sent,
    requests() {
      const found = sent().matchAll(/^(GET|POST|DELETE) (\/[^ ?]*)|"method":"([^"]+)"/gm);
      return [...found].map(([, verb, path, method]) => method ?? `${verb} ${path}`);
    },
    handlesIn(tool) {
      const found = sent().matchAll(/"name":"(\w+)","arguments":\{"handle":"([^"]+)"/g);
      return [...found].flatMap(([, name, handle]) => (name === tool && handle !== undefined ? [handle] : []));
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
