import { createServer, type Server, type Socket } from "node:net";

/** Listens where nothing may arrive, on both loopback addresses, and remembers whether something did. */
export interface ForbiddenListener extends AsyncDisposable {
  readonly port: number;
  readonly connections: number;
  /** What was sent, whatever it was. */
  readonly received: string;
}

export async function startForbiddenListener(): Promise<ForbiddenListener> {
  let connections = 0;
  let received = "";
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
  };
  const [v4, v6] = [createServer(onConnection), createServer(onConnection)];
  const port = await listen(v4, "127.0.0.1", 0);
  const servers = [v4];
  // Where there is no version 6 nothing can arrive over it.
  if (await listen(v6, "::1", port).catch(() => undefined)) servers.push(v6);
  return {
    port,
    get connections() {
      return connections;
    },
    get received() {
      return received;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as { port: number }).port));
  });
}
