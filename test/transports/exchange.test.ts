import { methods, type Notification } from "@human-plus/core/protocol";
import { describe, expect, test } from "vitest";
import { linkTo, request } from "./parts/link.ts";
import { ourRelays, plainQueue, type StartRelay } from "./parts/relays.ts";
import { type OpenTransport, transports } from "./parts/transports.ts";

const LONG = { timeoutMs: 20_000 };

const combinations: readonly (readonly [string, OpenTransport, StartRelay])[] = Object.entries(transports).flatMap(
  ([name, open]) => [
    ...Object.entries(ourRelays).map(([relay, start]) => [`${name}, ${relay}`, open, start] as const),
    ...(name === "event stream" ? [] : [[`${name}, a plain queue`, open, plainQueue] as const]),
  ],
);

describe.each(combinations)("%s", (_, open, start) => {
  test("an exchange gives the response with the id of its request, and posts it once", async () => {
    await using relay = await start();
    await using transport = open();
    const asked = request({ n: 1 });
    expect(await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).toEqual({
      jsonrpc: "2.0",
      id: asked.id,
      result: { n: 1 },
    });
    expect(relay.frames.filter(({ id }) => id === asked.id)).toHaveLength(1);
  });

  test("posts at once with send-first, and finds the reply all the same", async () => {
    await using relay = await start();
    await using transport = open({ order: "send-first" });
    const asked = request({ n: 2 });
    expect((await transport.exchange(linkTo(relay.baseUrl), asked, LONG)).id).toBe(asked.id);
  });

  test("exchanges of one attachment each get their own reply, whatever the order", async () => {
    const held: (() => void)[] = [];
    await using relay = await start({
      onRequest: ({ params }) =>
        new Promise((resolve) => {
          held.push(() => resolve({ ...params }));
          if (held.length === 50) for (const release of held.reverse()) release();
        }),
    });
    await using transport = open();
    const link = linkTo(relay.baseUrl);
    const asked = Array.from({ length: 50 }, (_, n) => request({ n }));
    const answers = await Promise.all(asked.map((one) => transport.exchange(link, one, LONG)));
    expect(answers.map(({ id, result }) => [id, result])).toEqual(asked.map(({ id }, n) => [id, { n }]));
  });

  test("attachments do not get each other's replies", async () => {
    await using relay = await start();
    await using transport = open();
    const asked = Array.from({ length: 5 }, (_, n) => request({ n }));
    const answers = await Promise.all(
      asked.map((one, n) => transport.exchange(linkTo(relay.baseUrl, { id: `attachment-${n}` }), one, LONG)),
    );
    expect(answers.map(({ id }) => id)).toEqual(asked.map(({ id }) => id));
  });

  test("notifications reach listeners with the link of the caller, also when nobody calls but the leg is held", async () => {
    await using relay = await start();
    await using transport = open();
    const link = linkTo(relay.baseUrl);
    const { promise: heard, resolve } = Promise.withResolvers<unknown[]>();
    transport.onNotification((of, notification) => resolve([of, notification.method]));
    transport.hold(link);
    await transport.exchange(link, request(), LONG);
    await relay.send({ jsonrpc: "2.0", method: methods.toolsListChanged });
    expect(await heard).toEqual([link, methods.toolsListChanged]);
  });

  test("a notification is posted without waiting for anything", async () => {
    await using relay = await start();
    await using transport = open();
    const note: Notification = { jsonrpc: "2.0", method: methods.initialized };
    await transport.notify(linkTo(relay.baseUrl), note, LONG);
    await relay.until(() => relay.frames.some(({ method }) => method === methods.initialized));
  });

  test("giving up at the deadline comes in time, and tells the surface which request it was", async () => {
    await using relay = await start({ onRequest: () => undefined });
    await using transport = open({ pollWaitMs: 25_000 });
    const asked = request();
    const from = performance.now();
    const error = await transport.exchange(linkTo(relay.baseUrl), asked, { timeoutMs: 700 }).catch((e) => e);
    expect(error).toMatchObject({ code: "relay_timeout", outcome: "unknown", retryable: false });
    expect(performance.now() - from).toBeLessThan(700 + 250);
    await relay.until(() => relay.frames.some(({ method }) => method === methods.cancelled));
    expect(relay.frames.find(({ method }) => method === methods.cancelled)?.params?.["requestId"]).toBe(asked.id);
    expect(relay.frames.filter(({ id }) => id === asked.id)).toHaveLength(1);
  });

  test("an aborted exchange ends at once with its outcome unknown, and the next one gets its own reply", async () => {
    await using relay = await start({
      onRequest: async ({ params }) => {
        if (params?.["slow"] === true) await relay.until(() => relay.frames.length >= 3);
        return { ...params };
      },
    });
    await using transport = open();
    const link = linkTo(relay.baseUrl);
    const stop = new AbortController();
    const slow = transport.exchange(link, request({ slow: true }), { ...LONG, signal: stop.signal }).catch((e) => e);
    await relay.until(() => relay.frames.length === 1);
    stop.abort();
    // The surface may have the frame before its POST was answered; whether it was posted is known either way.
    expect(await slow).toMatchObject({ code: "aborted", outcome: "unknown" });
    const next = request({ n: 2 });
    expect((await transport.exchange(link, next, LONG)).id).toBe(next.id);
  });

  test("a wrong token is refused before anything is posted", async () => {
    await using relay = await start();
    await using transport = open();
    const link = linkTo(relay.baseUrl, { token: "another-token-0123456789" });
    const error = await transport.exchange(link, request(), LONG).catch((e) => e);
    expect(error).toMatchObject({ code: "attachment_unauthorized", outcome: "not_applied", retryable: false });
    expect(relay.frames).toHaveLength(0);
  });

  test("a session that is gone is refused before anything is posted, and can be left", async () => {
    await using relay = await start();
    await using transport = open();
    const link = linkTo(relay.baseUrl, { sessionId: "session-2" });
    const error = await transport.exchange(link, request(), LONG).catch((e) => e);
    expect(error).toMatchObject({ code: "surface_unavailable", outcome: "not_applied", retryable: false });
    expect(relay.frames).toHaveLength(0);
    await transport.detach(link, LONG);
  });

  test("close() ends what waits with its outcome unknown, and leaves no connection", async () => {
    await using relay = await start({ onRequest: () => undefined });
    const before = await relay.connections();
    const transport = open();
    const link = linkTo(relay.baseUrl);
    const waiting = transport.exchange(link, request(), LONG).catch((e) => e);
    await relay.until(() => relay.frames.length === 1);
    await transport.close();
    expect(await waiting).toMatchObject({ code: "closed", outcome: "unknown" });
    await expect(transport.exchange(link, request(), LONG)).rejects.toMatchObject({ code: "closed" });
    await expect.poll(() => relay.connections()).toBe(before);
  });

  test("a leg that nobody needs is closed, and opened again without loss for the next exchange", async () => {
    await using relay = await start();
    await using transport = open({ idleLegMs: 50 });
    const link = linkTo(relay.baseUrl);
    await transport.exchange(link, request({ n: 1 }), LONG);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await transport.exchange(link, request({ n: 2 }), LONG)).result).toEqual({ n: 2 });
  });
});
