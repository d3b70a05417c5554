import { getEventListeners } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createInvitation } from "../src/index.ts";
import { createRelayClient } from "../src/relay-client.ts";

async function startServer(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const relayBaseUrl = `http://127.0.0.1:${port}`;
  return {
    invitation: createInvitation({ relayBaseUrl, surfaceId: "board", application: "test" }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("the requests of a surface", () => {
  test("leave nothing behind at the signal that may end them", async () => {
    await using server = await startServer((_, response) => void response.end("{}"));
    const { signal } = new AbortController();
    const relay = createRelayClient(server.invitation, signal, 10_000);
    for (let count = 0; count < 20; count++) expect(await relay.send("{}")).toBe("ok");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test.each([
    ["begins", undefined],
    ["ends", "{"],
  ])("wait no longer than they may for an answer that never %s", async (_, beginning) => {
    await using server = await startServer((_, response) => {
      if (beginning !== undefined) response.writeHead(200).write(beginning);
    });
    const relay = createRelayClient(server.invitation, new AbortController().signal, 100);
    expect(await relay.send("{}")).toBe("later");
    expect(await relay.poll(50, undefined)).toBe("later");
  });

  test("end with the signal, but for the one that leaves", async () => {
    const arrived = Promise.withResolvers<void>();
    await using server = await startServer(({ url = "" }, response) => {
      if (url.includes("/unregister")) response.end("{}");
      else arrived.resolve();
    });
    const stop = new AbortController();
    const relay = createRelayClient(server.invitation, stop.signal, 10_000);
    const sent = relay.send("{}");
    await arrived.promise;
    stop.abort();
    expect(await sent).toBe("later");
    expect(await relay.register()).toBe("later");
    expect(await relay.unregister()).toBe("ok");
  });
});
