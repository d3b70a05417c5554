import { setImmediate as turn } from "node:timers/promises";
import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { createSseTransport } from "@human-plus/transport-sse";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ourRelays, type TestRelay } from "../transports/parts/relays.ts";
import { type Certificate, trustNewCertificate } from "./parts/certificate.ts";
import { type ForbiddenListener, startForbiddenListener } from "./parts/forbidden-listener.ts";
import { createInternet, type Internet } from "./parts/internet.ts";
import { failureOf, linkTo, notification, operations, request } from "./parts/links.ts";
import { createNameTable, hasDnsmasq, type Names, startDnsServer } from "./parts/names.ts";
import { type SecureServer, startSecureServer } from "./parts/secure-server.ts";
import { transports } from "./parts/transports.ts";

const HOST = "relay.example";
/** Two public addresses of the relay, one of each family. Neither is really dialled. */
const [FIRST, SECOND] = ["8.8.8.8", "2606:4700::1111"];

let certificate: Certificate;
let forbidden: ForbiddenListener;
let relay: TestRelay;
let server: SecureServer;

beforeAll(() => {
  certificate = trustNewCertificate([HOST]);
});

beforeEach(async () => {
  forbidden = await startForbiddenListener();
  relay = await (ourRelays["our relay on node:http"] as NonNullable<(typeof ourRelays)[string]>)();
  server = await startSecureServer({ certificate, behind: relay.port });
});

afterEach(async () => {
  expect({ connections: forbidden.connections, received: forbidden.received }).toEqual({
    connections: 0,
    received: "",
  });
  for (const part of [server, relay, forbidden]) await part[Symbol.asyncDispose]();
});

function optionsFor({ lookup, connect }: Internet, recheckMs?: number): RelayEndpointOptions {
  const rules = {
    egress: { direct: "pinned" },
    allowedRelayHosts: [HOST],
    allowedRelayPorts: [forbidden.port],
  } as const;
  return { ...rules, lookup, connect, recheckMs };
}

const internetOf = ({ lookup }: Pick<Names, "lookup">) =>
  createInternet({ answer: lookup, servers: { [FIRST as string]: server.port, [SECOND as string]: server.port } });

/** The port is that of the listener, so that a connection to a forbidden address would arrive there. */
const link = () => linkTo(`https://${HOST}:${forbidden.port}/agent-relay`);
const timely = { timeoutMs: 10_000 };

const kinds = [
  ["a table", createNameTable, true],
  ["a DNS server", startDnsServer, hasDnsmasq],
] as const;

if (!hasDnsmasq)
  test.skip("names of a DNS server: needs apt-get install -y --no-install-recommends dnsmasq-base", () => {});

describe.each(kinds.filter(([, , isThere]) => isThere))("names of %s", (_, startNames) => {
  describe.each(Object.entries(transports))("%s", (_name, createTransport) => {
    test("reaches a relay whose addresses are all public, and offers its sockets those alone", async () => {
      await using names = await startNames({ [HOST]: [FIRST, SECOND] as string[] });
      const internet = internetOf(names);
      const transport = createTransport(optionsFor(internet));
      const asked = request();
      expect(await transport.exchange(link(), asked, timely)).toMatchObject({ id: asked.id });
      await transport.detach(link(), timely);
      await transport.close();
      for (const addresses of internet.offered) expect([...addresses].sort()).toEqual([SECOND, FIRST]);
      expect(server.received).toContain(`host: ${HOST}:${forbidden.port}`);
    });

    test("a name that changes between the check and the connection leads nowhere else", async () => {
      await using names = await startNames({ [HOST]: [FIRST as string] });
      let isFirst = true;
      const internet = internetOf({
        async lookup(hostname) {
          const answer = await names.lookup(hostname);
          if (isFirst) await names.change({ [HOST]: ["127.0.0.1", "::1"] });
          isFirst = false;
          return answer;
        },
      });
      const transport = createTransport(optionsFor(internet, 0));
      await transport.notify(link(), notification, timely);
      expect(internet.offered).toEqual([[FIRST]]);
      for (const run of Object.values(operations))
        expect(await failureOf(run(transport, link()))).toMatchObject({
          code: "endpoint_refused",
          outcome: "not_applied",
          retryable: false,
        });
      await server.untilOpen(0);
      expect(server.connections).toBe(1);
      expect(internet.dialled).toEqual([FIRST]);
      await transport.close();
    });

    const rows: readonly (readonly [string, readonly string[], string])[] = [
      ["a mix", [FIRST as string, "127.0.0.1"], "endpoint_refused"],
      ["a mix of families", [FIRST as string, "::1"], "endpoint_refused"],
      ["private addresses", ["10.0.0.1", "fd00::1"], "endpoint_refused"],
      ["hundreds", Array.from({ length: 200 }, (_entry, n) => `8.8.4.${n}`), "endpoint_refused"],
      ["nothing", [], "relay_unreachable"],
    ];
    test.each(rows)("a name for %s is refused before a connection is tried", async (_what, addresses, code) => {
      await using names = await startNames({ [HOST]: addresses });
      const internet = internetOf(names);
      const transport = createTransport(optionsFor(internet));
      for (const run of Object.values(operations))
        expect(await failureOf(run(transport, link()))).toMatchObject({ code, outcome: "not_applied" });
      await transport.close();
      expect(internet.dialled).toEqual([]);
    });
  });

  test("a connection that is kept ends when its name has another address, and the next one leads there", async () => {
    await using names = await startNames({ [HOST]: [FIRST as string] });
    const internet = internetOf(names);
    const transport = createSseTransport(optionsFor(internet, 0));
    await transport.notify(link(), notification, timely);
    await turn(); // The connection is free again after the turn in which its answer ended.
    await transport.notify(link(), notification, timely);
    expect(internet.dialled).toEqual([FIRST]);
    const [kept] = server.open;
    await names.change({ [HOST]: [SECOND as string] });
    await turn();
    await transport.notify(link(), notification, timely);
    expect(internet.dialled).toEqual([FIRST, SECOND]);
    await server.untilOpen(1);
    expect(server.open.has(kept as never)).toBe(false);
    await transport.close();
  });

  test("a connection that is kept ends when a forbidden address joins those of its name", async () => {
    await using names = await startNames({ [HOST]: [FIRST as string] });
    const internet = internetOf(names);
    const transport = createSseTransport(optionsFor(internet, 0));
    await transport.notify(link(), notification, timely);
    await names.change({ [HOST]: [FIRST as string, "10.0.0.1"] });
    await turn();
    expect(await failureOf(transport.notify(link(), notification, timely))).toMatchObject({ code: "endpoint_refused" });
    await server.untilOpen(0);
    await names.change({ [HOST]: [FIRST as string] });
    await transport.notify(link(), notification, timely);
    expect(internet.dialled).toEqual([FIRST, FIRST]);
    await transport.close();
  });
});

test("a name is not looked up again while its answer is new", async () => {
  const names = await createNameTable({ [HOST]: [FIRST as string] });
  const internet = internetOf(names);
  const transport = createSseTransport(optionsFor(internet, 3_600_000));
  for (let i = 0; i < 3; i++) {
    await transport.notify(link(), notification, timely);
    await turn();
  }
  expect(internet.lookedUp).toEqual([HOST]);
  await transport.close();
});

test("a request under way finishes when its connection is no longer kept", async () => {
  const names = await createNameTable({ [HOST]: [FIRST as string] });
  const internet = internetOf(names);
  const transport = createSseTransport(optionsFor(internet, 0));
  const asked = request();
  const exchange = transport.exchange(link(), asked, timely);
  await relay.until(() => relay.frames.length > 0);
  await names.change({ [HOST]: ["127.0.0.1"] });
  expect(await failureOf(transport.notify(link(), notification, timely))).toMatchObject({ code: "endpoint_refused" });
  expect(await exchange).toMatchObject({ id: asked.id });
  await transport.close();
});

test("whoever connects elsewhere than to the addresses that were checked is refused before a byte leaves", async () => {
  const { lookup } = internetOf(await createNameTable({ [HOST]: [FIRST as string] }));
  const elsewhere = createInternet({ servers: { "1.1.1.1": server.port } });
  const connect: Internet["connect"] = ({ port }) => elsewhere.connect({ host: "1.1.1.1", port });
  const transport = createSseTransport(optionsFor({ ...elsewhere, lookup, connect }));
  expect(await failureOf(transport.notify(link(), notification, timely))).toMatchObject({
    code: "endpoint_refused",
    outcome: "not_applied",
  });
  expect(server.received).toBe("");
  await transport.close();
});

test("a name that nobody answers for does not outlast the time for a connection", async () => {
  const internet = createInternet({ answer: () => new Promise(() => {}) });
  const transport = createSseTransport({
    ...optionsFor(internet),
    connectTimeoutMs: 50,
  });
  expect(await failureOf(transport.notify(link(), notification, timely))).toMatchObject({
    code: "relay_unreachable",
    outcome: "not_applied",
  });
  await transport.close();
});
