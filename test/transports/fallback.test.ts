import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fallback } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { missingNginx, startBufferingProxy, startResettingProxy } from "./parts/buffering-proxy.ts";
import { linkTo, request } from "./parts/link.ts";
import { ourRelays, plainQueue, type StartRelay } from "./parts/relays.ts";
import { transports } from "./parts/transports.ts";

const { "by itself": openAuto, "event stream": openSse } = transports as Record<string, (typeof transports)[string]>;
if (openAuto === undefined || openSse === undefined) throw new Error("both transports are needed");
const LONG = { timeoutMs: 20_000 };

const through = (port: number) => `http://127.0.0.1:${port}/agent-relay`;

describe.each(Object.entries(ourRelays))("%s", (_, start: StartRelay) => {
  describe.skipIf(missingNginx !== undefined)(missingNginx ?? "behind nginx that buffers", () => {
    test("an exchange that chooses by itself succeeds, posts once, and remembers the relay", async () => {
      await using relay = await start();
      await using proxy = await startBufferingProxy(relay.port);
      const fallbacks: Fallback[] = [];
      await using transport = openAuto({ onFallback: (fallback) => fallbacks.push(fallback) });
      const asked = request({ n: 1 });
      expect((await transport.exchange(linkTo(through(proxy.port)), asked, LONG)).id).toBe(asked.id);
      await transport.exchange(linkTo(through(proxy.port), { id: "another" }), request(), LONG);
      expect(fallbacks).toEqual([{ origin: `http://127.0.0.1:${proxy.port}`, reason: "silent" }]);
      expect(relay.frames.filter(({ id }) => id === asked.id)).toHaveLength(1);
    });

    test("an exchange with little time succeeds as well", async () => {
      await using relay = await start();
      await using proxy = await startBufferingProxy(relay.port);
      await using transport = openAuto();
      await transport.exchange(linkTo(through(proxy.port)), request(), { timeoutMs: 1_500 });
    });

    test("one over event streams alone fails with the error that names the cause", async () => {
      await using relay = await start();
      await using proxy = await startBufferingProxy(relay.port);
      await using transport = openSse();
      const error = await transport
        .exchange(linkTo(through(proxy.port)), request(), { timeoutMs: 1_000 })
        .catch((e) => e);
      expect(error).toMatchObject({ code: "stream_buffered" });
      expect(error.message).toContain("@human-plus/transport-longpoll");
    });
  });

  test("behind a proxy that resets streams, an exchange changes over while it waits, and is posted once", async () => {
    const { promise: isReset, resolve: reset } = Promise.withResolvers<void>();
    await using relay = await start({
      onRequest: async ({ params }) => {
        await isReset;
        return { ...params };
      },
    });
    await using proxy = await startResettingProxy(relay.port, 2_000);
    const fallbacks: Fallback[] = [];
    await using transport = openAuto({
      onFallback(fallback) {
        fallbacks.push(fallback);
        reset();
      },
    });
    const asked = request({ n: 1 });
    expect((await transport.exchange(linkTo(through(proxy.port)), asked, LONG)).result).toEqual({ n: 1 });
    expect(fallbacks).toEqual([{ origin: `http://127.0.0.1:${proxy.port}`, reason: "cut" }]);
    expect(relay.frames.filter(({ id }) => id === asked.id)).toHaveLength(1);
    expect(proxy.resets).toBe(1);
  });

  test("a way that lets streams through is kept", async () => {
    await using relay = await start();
    const fallbacks: Fallback[] = [];
    await using transport = openAuto({ onFallback: (fallback) => fallbacks.push(fallback), idleLegMs: 20 });
    for (let n = 0; n < 3; n++) {
      await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(fallbacks).toEqual([]);
  });
});

test("a relay without event streams is polled, and that is said once", async () => {
  await using relay = await plainQueue();
  const fallbacks: Fallback[] = [];
  await using transport = openAuto({ onFallback: (fallback) => fallbacks.push(fallback) });
  await transport.exchange(linkTo(relay.baseUrl), request(), LONG);
  await transport.exchange(linkTo(relay.baseUrl, { id: "another" }), request(), LONG);
  expect(fallbacks).toEqual([{ origin: `http://127.0.0.1:${relay.port}`, reason: "refused" }]);
});

test("a relay that is away, and one that has neither, are not remembered as polled", async () => {
  const server = createServer((_, response) => void response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const fallbacks: Fallback[] = [];
    await using transport = openAuto({ onFallback: (fallback) => fallbacks.push(fallback) });
    const { port } = server.address() as AddressInfo;
    for (const url of ["http://127.0.0.1:1/agent-relay", through(port)]) {
      const error = await transport.exchange(linkTo(url), request(), LONG).catch((e) => e);
      expect(error).toMatchObject({ name: "HumanPlusError", outcome: "not_applied" });
    }
    expect(fallbacks).toEqual([]);
  } finally {
    server.close();
  }
});
