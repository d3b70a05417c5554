import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Cuts the event streams whose request line holds a text. Gives how many there were. */
  cutStreams(holding: string): number;
  /** What came over each event stream so far. */
  received(): readonly string[];
  /** Lets no event stream through until `until` resolves. */
  holdStreams(until: Promise<unknown>): void;
}

/** Passes TCP on, and cuts or holds event streams when it is told to, at whatever byte they happen to be. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const streams = new Map<Socket, string>();
  const open = new Set<Socket>();
  const received: Buffer[][] = [];
  let passage: Promise<unknown> | undefined;
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    open.add(client);
    const end = () => {
      streams.delete(client);
      open.delete(client);
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) socket.setNoDelay(true).on("error", end).on("close", end);
    target.pipe(client);
    client.once("data", async (head: Buffer) => {
      client.pause();
      const line = head.toString("latin1").split("\r\n", 1)[0] as string;
      if (line.startsWith("GET ")) {
        const chunks: Buffer[] = [];
        received.push(chunks);
        target.on("data", (chunk) => chunks.push(chunk));
        streams.set(client, line);
        await passage;
      }
      target.write(head);
      client.pipe(target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutStreams(holding) {
      const found = [...streams].filter(([, line]) => line.includes(holding));
      for (const [socket] of found) socket.resetAndDestroy();
      return found.length;
    },
    received: () => received.map((chunks) => Buffer.concat(chunks).toString("utf8")),
    holdStreams(until) {
      passage = until;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
