import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { Server as ChainServer } from "proxy-chain";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ourRelays, type TestRelay } from "../transports/parts/relays.ts";
import { type Certificate, trustNewCertificate } from "./parts/certificate.ts";
import { type ForbiddenListener, startForbiddenListener } from "./parts/forbidden-listener.ts";
import { failureOf, linkTo, operations, request, TOKEN } from "./parts/links.ts";
import { type SecureServer, startSecureServer } from "./parts/secure-server.ts";
import { transports } from "./parts/transports.ts";

const WORD = "pass:w@rd-SECRET";
const BASIC = `Basic ${Buffer.from(`user:${WORD}`).toString("base64")}`;

let certificate: Certificate;
let forbidden: ForbiddenListener;

beforeAll(() => {
  certificate = trustNewCertificate(["localhost"]);
});

beforeEach(async () => {
  forbidden = await startForbiddenListener();
});

afterEach(async () => {
  expect({ connections: forbidden.connections, received: forbidden.received }).toEqual({
    connections: 0,
    received: "",
  });
  await forbidden[Symbol.asyncDispose]();
});

describe("a proxy that misbehaves", () => {
  let proxy: Server;
  let asked: string[];
  let answer: (socket: Socket) => void;

  beforeEach(async () => {
    asked = [];
    proxy = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (chunk) => {
        asked.push(chunk.toString("latin1"));
        answer(socket);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  afterEach(() => new Promise((resolve) => proxy.close(resolve)));

  const says = (text: string) => (socket: Socket) => void socket.end(text);
  const head = (status: string, ...fields: string[]) => `HTTP/1.1 ${[status, ...fields].join("\r\n")}\r\n\r\n`;

  type Row = readonly [what: string, answer: (socket: Socket) => void, code: "endpoint_refused" | "relay_unreachable"];
  const rows: readonly Row[] = [
    [
      "wants credentials",
      says(head("407 Proxy Authentication Required", `proxy-authenticate: Basic realm="${WORD}"`)),
      "endpoint_refused",
    ],
    ["forbids", says(head("403 Forbidden")), "endpoint_refused"],
    ["knows no such host", says(head("404 Not Found")), "endpoint_refused"],
    ["is busy", says(head("429 Too Many Requests")), "relay_unreachable"],
    [
      "redirects",
      (socket) => says(head("302 Found", `location: http://127.0.0.1:${forbidden.port}/`))(socket),
      "relay_unreachable",
    ],
    [
      "redirects for good",
      (socket) => says(head("308 x", `location: https://[::1]:${forbidden.port}/`))(socket),
      "relay_unreachable",
    ],
    ["fails", says(head("500 Internal Server Error", "content-length: 2") + WORD), "relay_unreachable"],
    ["has no way to the relay", says(head("502 Bad Gateway")), "relay_unreachable"],
    ["continues", says(head("100 Continue")), "relay_unreachable"],
    [
      "switches protocols",
      says(head("101 Switching Protocols", "upgrade: x", "connection: upgrade")),
      "relay_unreachable",
    ],
    ["speaks something else", says("SSH-2.0-OpenSSH_9.2\r\n"), "relay_unreachable"],
    ["answers with bytes", says("\u0000\u0001\u0002\u00ff\r\n\r\n"), "relay_unreachable"],
    [
      "never ends its headers",
      says(`HTTP/1.1 200 OK\r\n${"x-filler: 0123456789\r\n".repeat(2_000)}`),
      "relay_unreachable",
    ],
    ["says nothing", () => {}, "relay_unreachable"],
    ["says half a line", (socket) => void socket.write("HTTP/1.1 20"), "relay_unreachable"],
    ["closes", (socket) => void socket.end(), "relay_unreachable"],
    ["resets", (socket) => void socket.resetAndDestroy(), "relay_unreachable"],
    ["opens and closes", says(head("200 OK")), "relay_unreachable"],
    ["opens and speaks first", says(`${head("200 OK")}HTTP/1.1 202 Accepted\r\n\r\n`), "relay_unreachable"],
    [
      "opens and speaks no TLS",
      (socket) => {
        socket.write(head("200 OK"));
        socket.once("data", () => socket.end("HTTP/1.1 202 Accepted\r\n\r\n"));
      },
      "relay_unreachable",
    ],
    ["opens and stays silent", (socket) => void socket.write(head("200 OK")), "relay_unreachable"],
  ];

  describe.each(Object.entries(transports))("%s", (_, createTransport) => {
    test.each(rows)("%s", async (_what, behaviour, code) => {
      answer = behaviour;
      const { port } = proxy.address() as AddressInfo;
      const transport = createTransport({
        egress: { proxy: `http://user:${encodeURIComponent(WORD)}@127.0.0.1:${port}` },
        allowedRelayHosts: ["relay.example"],
        connectTimeoutMs: 150,
      });
      for (const [name, run] of Object.entries(operations)) {
        const error = await failureOf(run(transport, linkTo("https://relay.example/relay")));
        expect(error, name).toMatchObject({ code, outcome: "not_applied", retryable: code === "relay_unreachable" });
        const text = inspect(error, { depth: 9, showHidden: true });
        for (const secret of [TOKEN, WORD, encodeURIComponent(WORD), BASIC, BASIC.slice(6)])
          expect(text).not.toContain(secret);
      }
      await transport.close();
      expect(asked.length).toBeGreaterThanOrEqual(3);
      for (const line of asked) {
        expect(line).toMatch(/^CONNECT relay\.example:443 HTTP\/1\.1\r\n/);
        expect(line).toContain(BASIC);
        expect(line).not.toContain(TOKEN);
      }
    });
  });

  test("and one that is away makes the relay unreachable", async () => {
    const { port } = proxy.address() as AddressInfo;
    await new Promise((resolve) => proxy.close(resolve));
    for (const createTransport of Object.values(transports)) {
      const transport = createTransport({
        egress: { proxy: `http://127.0.0.1:${port}` },
        allowedRelayHosts: ["relay.example"],
      });
      for (const run of Object.values(operations))
        expect(await failureOf(run(transport, linkTo("https://relay.example")))).toMatchObject({
          code: "relay_unreachable",
          outcome: "not_applied",
        });
      await transport.close();
    }
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });

  test("and closing does not wait for one that says nothing", async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    answer = () => resolve();
    const { port } = proxy.address() as AddressInfo;
    const transport = (transports["event stream"] as (typeof transports)[string])({
      egress: { proxy: `http://127.0.0.1:${port}` },
      allowedRelayHosts: ["relay.example"],
      connectTimeoutMs: 600_000,
    });
    const failed = failureOf(operations.notify?.(transport, linkTo("https://relay.example")) as Promise<unknown>);
    await isAsked;
    await transport.close();
    expect(await failed).toMatchObject({ code: "closed", outcome: "not_applied" });
  });
});

describe.each(["http", "https"] as const)("a proxy over %s that is not ours", (serverType) => {
  let relay: TestRelay;
  let server: SecureServer;
  let proxy: ChainServer;
  let seen: string[];

  beforeEach(async () => {
    seen = [];
    relay = await (ourRelays["our relay on node:http"] as NonNullable<(typeof ourRelays)[string]>)();
    server = await startSecureServer({ certificate, behind: relay.port });
    const common = {
      host: "127.0.0.1",
      port: 0,
      prepareRequestFunction: ({ username = "", password = "", hostname = "", port = 0 }) => {
        seen.push(`${hostname}:${port}`);
        return { requestAuthentication: username !== "user" || password !== WORD };
      },
    };
    proxy = new ChainServer(
      serverType === "https" ? { ...common, serverType, httpsOptions: certificate } : { ...common, serverType },
    );
    await proxy.listen();
  });

  afterEach(async () => {
    await proxy.close(true);
    for (const part of [server, relay]) await part[Symbol.asyncDispose]();
  });

  const optionsFor = (word: string): RelayEndpointOptions => ({
    egress: { proxy: `${serverType}://user:${encodeURIComponent(word)}@localhost:${proxy.port}` },
    allowedRelayHosts: ["localhost"],
    allowedRelayPorts: [server.port],
  });

  test.each(Object.entries(transports))(
    "carries exchanges over %s, and hands its credentials on to nobody",
    async (_, createTransport) => {
      const transport = createTransport(optionsFor(WORD));
      const asked = request();
      const link = linkTo(`https://localhost:${server.port}/agent-relay`);
      expect(await transport.exchange(link, asked, { timeoutMs: 10_000 })).toMatchObject({ id: asked.id });
      await transport.detach(link, { timeoutMs: 10_000 });
      await transport.close();
      expect(new Set(seen)).toEqual(new Set([`localhost:${server.port}`]));
      expect(server.received).toContain(TOKEN);
      expect(server.received.toLowerCase()).not.toContain("proxy-");
      await server.untilOpen(0);
    },
  );

  test.each(Object.entries(transports))("refuses other credentials over %s", async (_, createTransport) => {
    const transport = createTransport(optionsFor("another-word"));
    for (const run of Object.values(operations)) {
      const error = await failureOf(run(transport, linkTo(`https://localhost:${server.port}/agent-relay`)));
      expect(error).toMatchObject({ code: "endpoint_refused", outcome: "not_applied" });
      expect((error as Error).message).toMatch(/credentials/);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("another-word");
    }
    await transport.close();
    expect(server.connections).toBe(0);
  });
});
