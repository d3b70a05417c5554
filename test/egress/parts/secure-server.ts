import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Certificate } from "./certificate.ts";

/** The https end of a relay: hands what it reads to a relay without TLS, or answers as it is told. */
export interface SecureServer extends AsyncDisposable {
  readonly port: number;
  /** Connections that were made, and those that are open. */
  readonly connections: number;
  readonly open: ReadonlySet<Socket>;
  /** What came, decrypted. */
  readonly received: string;
  /** Resolves once this many connections are open. */
  untilOpen(count: number): Promise<void>;
}

export interface SecureServerOptions {
  certificate: Certificate;
  /** The port of a relay, or what is answered to each request. */
  behind: number | string;
}

export async function startSecureServer({ certificate, behind }: SecureServerOptions): Promise<SecureServer> {
  const open = new Set<Socket>();
  const watchers = new Set<() => void>();
  let connections = 0;
  let received = "";
  const changed = () => {
    for (const look of watchers) look();
  };
  const server = createServer(certificate, (socket: TLSSocket) => {
    connections++;
    open.add(socket);
    changed();
    socket
      .on("error", () => {})
      .on("close", () => {
        open.delete(socket);
        changed();
      });
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (typeof behind === "string" && /\r\n\r\n/.test(received)) socket.write(behind);
    });
    if (typeof behind === "string") return;
    const relay = connect(behind, "127.0.0.1");
    relay.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => relay.destroy());
    socket.pipe(relay).pipe(socket);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    open,
    get received() {
      return received;
    },
    untilOpen: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (open.size !== count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
