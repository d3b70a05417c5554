import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer on its way back. */
export interface TwistedAnswer {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
}

/** What goes wrong on the way to a relay. */
export interface Twist {
  /** Changes where a request goes. */
  asked?: ((url: URL) => void) | undefined;
  /** Changes what comes back; event streams pass as they are. */
  answered?: ((answer: TwistedAnswer, asked: { method: string; url: URL; body: string }) => void) | undefined;
}

/** Stands before a relay and makes of it one that does something wrong. */
export async function startTwistingProxy(relayUrl: string, { asked, answered }: Twist) {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(incoming.url ?? "", relayUrl);
    asked?.(url);
    const { method = "GET" } = incoming;
    const outward = request(url, { method, headers: incoming.headers, agent: false }, async (answer) => {
      const isStream = answer.statusCode === 200 && answer.headers["content-type"] === "text/event-stream";
      if (isStream) {
        outgoing.writeHead(200, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part);
      const twisted = {
        status: answer.statusCode ?? 0,
        body: Buffer.concat(parts).toString(),
        headers: { ...answer.headers, "content-length": undefined, "transfer-encoding": undefined },
      };
      answered?.(twisted, { method, url, body: body.toString() });
      const headers = Object.entries(twisted.headers).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      outgoing.writeHead(twisted.status, Object.fromEntries(headers)).end(twisted.body);
    });
    outward.on("error", () => outgoing.destroy());
    outgoing.once("close", () => outward.destroy());
    outward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(relayUrl).pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
