import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Cuts the receiving legs (legs and polls) whose request line holds a text. Gives how many there were. */
  cutLegs(holding: string): number;
  /** What came over each connection of receiving legs so far. */
  received(): readonly string[];
  /** Lets no receiving leg through until `until` resolves. */
  holdLegs(until: Promise<unknown>): void;
}

/** Passes TCP on, and cuts or holds receiving legs when it is told to, at whatever byte they happen to be. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const legs = new Map<Socket, string>();
  const open = new Set<Socket>();
  const received: Buffer[][] = [];
  let passage: Promise<unknown> | undefined;
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    open.add(client);
    const end = () => {
      legs.delete(client);
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
        legs.set(client, line);
        // Polls come one after the other on one connection, each perhaps of another client.
        client.on("data", (next: Buffer) => {
          if (next.includes("GET ")) legs.set(client, next.toString("latin1").split("\r\n", 1)[0] as string);
        });
        client.pause();
        await passage;
      }
      target.write(head);
      client.pipe(target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cutLegs(holding) {
      const found = [...legs].filter(([, line]) => line.includes(holding));
      for (const [socket] of found) socket.resetAndDestroy();
      return found.length;
    },
    received: () => received.map((chunks) => Buffer.concat(chunks).toString("utf8")),
    holdLegs(until) {
      passage = until;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
