import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Cuts every connection that carries an event stream now. Gives how many there were. */
  cutStreams(): number;
}

/** Passes TCP on, and cuts event streams when it is told to: at whatever byte they happen to be. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const streams = new Set<Socket>();
  const all = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    all.add(client);
    const end = () => {
      streams.delete(client);
      all.delete(client);
      client.destroy();
      target.destroy();
    };
    client.once("data", (head: Buffer) => {
      if (head.toString("latin1").startsWith("GET ")) streams.add(client);
    });
    for (const socket of [client, target]) socket.setNoDelay(true).on("error", end).on("close", end);
    client.pipe(target).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutStreams() {
      const { size } = streams;
      for (const socket of [...streams]) socket.resetAndDestroy();
      return size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of all) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
