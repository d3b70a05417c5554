import { inspect } from "node:util";
import type { HumanPlusError, RelayTransport } from "@human-plus/core";
import { expect, test } from "vitest";
import {
  accept,
  linkTo,
  openStream,
  openTransport,
  type RawRelay,
  type RawRelayOptions,
  refuse,
  request,
  startRawRelay,
  TOKEN,
} from "./raw-relay.ts";

/** Everything an error says, in every way it can be made to say it. */
function textsOf(error: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const look = (value: unknown) => {
    if (typeof value === "string") texts.push(value);
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    texts.push(
      inspect(value, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(value) ?? "",
      String(value),
    );
    for (const key of Reflect.ownKeys(value)) look(Reflect.get(value, key));
  };
  look(error);
  return texts.join("\n");
}

type Run = (transport: RelayTransport, baseUrl: string, relay: RawRelay) => Promise<unknown>;

const exchange: Run = (transport, baseUrl) => transport.exchange(linkTo(baseUrl), request(), { timeoutMs: 300 });
/** A relay that repeats what it was sent, the token with it. */
const repeated = { message: `no ${TOKEN}`, error: TOKEN };

const paths: readonly (readonly [name: string, options: RawRelayOptions, run?: Run])[] = [
  ["refused leg", { onEvents: (arrival) => refuse(arrival, 401, JSON.stringify(repeated)) }],
  ["refused leg, as text", { onEvents: (arrival) => refuse(arrival, 410, `event: error\ndata: ${TOKEN}\n\n`) }],
  ["redirected leg", { onEvents: (a) => refuse(a, 302, "", { location: `http://127.0.0.1:1/?token=${TOKEN}` }) }],
  ["another content type", { onEvents: (a) => refuse(a, 200, TOKEN, { "content-type": TOKEN }) }],
  ["reset leg", { onEvents: ({ socket }) => void socket.destroy() }],
  ["leg that never begins", { onEvents: () => {} }],
  ["leg that ends with a reason", { onEvents: (a) => a.response.end(`event: error\ndata: ${TOKEN}\n\n`) }],
  ["refused frame", { onFrame: (arrival) => refuse(arrival, 400, JSON.stringify(repeated)) }],
  ["failing relay", { onFrame: (arrival) => refuse(arrival, 500, JSON.stringify(repeated)) }],
  ["busy relay", { onFrame: (arrival) => refuse(arrival, 429, "", { "retry-after": TOKEN }) }],
  ["redirected frame", { onFrame: (a) => refuse(a, 308, "", { location: `/?token=${TOKEN}` }) }],
  ["reset frame", { onFrame: ({ socket }) => void socket.destroy() }],
  ["broken HTTP", { onFrame: ({ socket }) => void socket.end(`SSH ${TOKEN}\r\n`) }],
  ["timeout", { onFrame: accept }],
  [
    "timeout while the leg is down",
    {
      onEvents: (a, raw) => (raw.streams.length > 1 ? refuse(a, 500, TOKEN) : openStream(a)),
      onFrame: (a, raw) => {
        accept(a);
        raw.streams[0]?.response.end();
      },
    },
  ],
  [
    "malformed reply",
    {
      onFrame(arrival, raw) {
        accept(arrival);
        const text = JSON.stringify({ jsonrpc: TOKEN, id: arrival.frame.id, result: { [TOKEN]: 1 } });
        raw.write(arrival.client, `event: mcp\ndata: ${text}\n\n`);
      },
    },
  ],
  ["unreachable", {}, (transport) => exchange(transport, "http://127.0.0.1:1", undefined as never)],
  ["unknown host", {}, (transport) => exchange(transport, "http://localhost:1/nowhere", undefined as never)],
  ["refused host", {}, (transport) => exchange(transport, "http://192.0.2.1/relay", undefined as never)],
  ["refused port", {}, (transport) => exchange(transport, "https://localhost:444/x", undefined as never)],
  [
    "aborted",
    {},
    (transport, baseUrl) =>
      transport.exchange(linkTo(baseUrl), request(), { timeoutMs: 300, signal: AbortSignal.abort() }),
  ],
  [
    "unreadable frame",
    {},
    (transport, baseUrl) => transport.exchange(linkTo(baseUrl), request({ n: 1n }), { timeoutMs: 300 }),
  ],
  [
    "closed",
    {},
    async (transport, baseUrl, relay) => {
      await transport.close();
      return exchange(transport, baseUrl, relay);
    },
  ],
  [
    "notification",
    { onFrame: (arrival) => refuse(arrival, 400, JSON.stringify(repeated)) },
    (transport, baseUrl) => transport.notify(linkTo(baseUrl), { jsonrpc: "2.0", method: "x" }, { timeoutMs: 300 }),
  ],
  [
    "detach",
    { onUnregister: (arrival) => refuse(arrival, 500, JSON.stringify(repeated)) },
    (transport, baseUrl) => transport.detach(linkTo(baseUrl), { timeoutMs: 300 }),
  ],
  [
    "reset detach",
    { onUnregister: ({ socket }) => void socket.destroy() },
    (transport, baseUrl) => transport.detach(linkTo(baseUrl), { timeoutMs: 300 }),
  ],
];

type Row = readonly [mode: "query" | "bearer", name: string, options: RawRelayOptions, run: Run | undefined];

const rows = paths.flatMap(([name, options, run]): Row[] => [
  ["query", name, options, run],
  ["bearer", name, options, run],
]);

test.each(rows)("no token is in what a caller sees of: %s, %s", async (authentication, _, options, run = exchange) => {
  await using relay = await startRawRelay(options);
  await using transport = openTransport({ authentication, allowedRelayHosts: ["127.0.0.1", "localhost"] });
  const error = await run(transport, relay.baseUrl, relay).then(
    (value) => expect.fail(`nothing failed: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown as HumanPlusError,
  );
  expect(error).toMatchObject({ name: "HumanPlusError" });
  const texts = textsOf(error);
  expect(texts).toContain(error.code);
  expect(texts).not.toContain(TOKEN);
  expect(inspect(linkTo(relay.baseUrl), { depth: 20, showHidden: true })).not.toContain(TOKEN);
});

test("whoever looks for a token finds one that is there", () => {
  expect(textsOf(new Error("a", { cause: { deep: [new Error(`b ${TOKEN}`)] } }))).toContain(TOKEN);
});
