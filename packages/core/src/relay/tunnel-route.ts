import { request } from "node:http";
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ConnectError } from "./connect-error.ts";
import { connected, type Route, waitFor } from "./connector.ts";

export interface TunnelRouteOptions {
  proxy: ConnectProxy;
  maxHeaderBytes: number;
}

/** A CONNECT proxy. It holds credentials: show it to nobody. */
export interface ConnectProxy {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`, if it wants one. */
  readonly authorization: string | undefined;
}

/** Through a CONNECT proxy, which looks the relay's name up and decides. Its credentials go to it and to nobody else. */
export function createTunnelRoute({ proxy, maxHeaderBytes }: TunnelRouteOptions): Route {
  return async ({ hostname, port }, { connect, signal }) => {
    const outer = connect({ host: proxy.host, port: proxy.port, autoSelectFamily: true });
    await connected(outer, signal).catch((error) => {
      throw signal.aborted ? error : new ConnectError("PROXY_UNREACHABLE");
    });
    const socket = proxy.isSecure ? await secured(outer, proxy.host, signal) : outer;
    try {
      await ask(socket, proxy, isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`);
      return { socket };
    } catch (error) {
      outer.destroy();
      throw error;
    }

    function ask(socket: Socket, { authorization }: ConnectProxy, authority: string): Promise<void> {
      return new Promise((resolve, reject) => {
        const onAbort = () => asking.destroy(new ConnectError("PROXY_SILENT"));
        const headers = { host: authority, connection: "keep-alive" };
        const asking = request({
          method: "CONNECT",
          path: authority,
          headers: authorization === undefined ? headers : { ...headers, "proxy-authorization": authorization },
          createConnection: () => socket,
          maxHeaderSize: maxHeaderBytes,
        });
        signal.addEventListener("abort", onAbort, { once: true });
        asking.on("close", () => signal.removeEventListener("abort", onAbort));
        asking.on("connect", ({ statusCode = 0 }, _, head) => {
          if (statusCode < 200 || statusCode > 299) return reject(new ConnectError(`PROXY_ANSWERED_${statusCode}`));
          // The relay speaks when it is spoken to: what is here already comes from the proxy.
          if (head.length > 0) return reject(new ConnectError("PROXY_NO_HTTP"));
          resolve();
        });
        asking.on("error", (error) => reject(proxyFailure(error)));
        asking.end();
      });
    }
  };
}

async function secured(outer: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const socket = connectTls({
    socket: outer,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ["http/1.1"],
  });
  socket.on("error", () => {});
  await waitFor(socket, "secureConnect", signal).catch((error) => {
    outer.destroy();
    throw signal.aborted ? error : new ConnectError("PROXY_TLS");
  });
  return socket;
}

function proxyFailure(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const { code } = error as { code?: unknown };
  return new ConnectError(typeof code === "string" && code.startsWith("HPE_") ? "PROXY_NO_HTTP" : "PROXY_CLOSED");
}
