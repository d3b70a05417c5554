import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Invitation } from "../src/index.ts";
import type { RelayLink } from "../src/protocol.ts";
import { createRelayEndpoint, type RelayEndpointOptions } from "../src/relay.ts";

const token = "token-0123456789abcdef-SECRET";
const signal = AbortSignal.timeout(20_000);
const note = { jsonrpc: "2.0", method: "notifications/initialized" } as const;

/** A link whose base URL is what it is told to be, also where no invitation would take it. */
function linkTo(relayBaseUrl: string): RelayLink {
  const fields = {
    relayBaseUrl: "https://relay.example",
    sessionId: "session-1",
    token,
    surfaceId: "s",
    application: "a",
  };
  const invitation = new Invitation(fields);
  Object.assign(invitation, { relayBaseUrl });
  return { id: "a", client: "agent", invitation };
}

let server: Server;
let port = 0;
let connections = 0;
let received = "";

beforeEach(async () => {
  connections = 0;
  received = "";
  server = createServer((socket: Socket) => {
    connections++;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      socket.end("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

describe("options", () => {
  const proxy = "http://127.0.0.1:3128";
  test.each([
    ["no egress", {}, /egress should be one of .*proxy.*direct.*unverified/],
    ["an egress of another kind", { egress: { direct: "checked" } }, /egress should be one of/],
    ["two ways at once", { egress: { direct: "pinned", unverified: true } }, /egress should be one of/],
    ["straight without hosts", { egress: { direct: "pinned" } }, /allowedRelayHosts/],
    ["a proxy with a path", { egress: { proxy: `${proxy}/path` }, allowedRelayHosts: ["a.example"] }, /egress\.proxy/],
    ["a proxy of another kind", { egress: { proxy: "socks5://a" }, allowedRelayHosts: ["a.example"] }, /egress\.proxy/],
    ["a host with a dot at its end", { egress: { proxy }, allowedRelayHosts: ["a.example."] }, /bare host names/],
    ["an egress of two kinds", { egress: { proxy, unverified: true } }, /egress should be/],
    ["unverified that is not true", { egress: { unverified: "yes" } }, /egress should be/],
    ["a proxy that is no URL", { egress: { proxy: "proxy" }, allowedRelayHosts: ["a.example"] }, /egress\.proxy/],
    ["a proxy without hosts", { egress: { proxy } }, /allowedRelayHosts/],
    ["no host at all", { egress: { unverified: true }, allowedRelayHosts: [] }, /allowedRelayHosts/],
    ["a wildcard", { egress: { proxy }, allowedRelayHosts: ["*.example.com"] }, /bare host names/],
    ["a host with a port", { egress: { proxy }, allowedRelayHosts: ["relay.example:8443"] }, /bare host names/],
    ["a URL for a host", { egress: { proxy }, allowedRelayHosts: ["https://relay.example"] }, /bare host names/],
    ["port 0", { egress: { proxy }, allowedRelayHosts: ["a.example"], allowedRelayPorts: [0] }, /allowedRelayPorts/],
    ["both places for the token", { egress: { unverified: true }, authentication: "both" }, /authentication should be/],
    ["another way to detach", { egress: { unverified: true }, detach: "vanish" }, /detach should be/],
  ])("refuse %s", (_, options, message) => {
    let thrown: unknown;
    try {
      createRelayEndpoint(options as unknown as RelayEndpointOptions);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "invalid_argument", message: expect.stringMatching(message) });
  });
});

describe("an address that is not allowed gets no byte", () => {
  const unverified: RelayEndpointOptions = { egress: { unverified: true } };
  const listed: RelayEndpointOptions = { ...unverified, allowedRelayHosts: ["relay.example", "127.0.0.1"] };

  const rows: readonly (readonly [url: (port: number) => string, options?: RelayEndpointOptions])[] = [
    [(at) => `http://user@127.0.0.1:${at}`],
    [(at) => `http://user:secret@127.0.0.1:${at}`],
    [(at) => `http://@127.0.0.1:${at}`],
    [(at) => `http://:@127.0.0.1:${at}`],
    [(at) => `http://127.0.0.1:${at}/?x=1`],
    [(at) => `http://127.0.0.1:${at}/?`],
    [(at) => `http://127.0.0.1:${at}/#x`],
    [(at) => `http://127.0.0.1:${at}/#`],
    [(at) => `http:\\\\127.0.0.1:${at}`],
    [(at) => `http://127.0.0.1:${at}\\@relay.example/`],
    [(at) => ` http://127.0.0.1:${at}`],
    [(at) => `ht\ntp://127.0.0.1:${at}`],
    [(at) => `ws://127.0.0.1:${at}`],
    [() => "file:///etc/passwd"],
    [() => "data:text/plain,x"],
    [() => "relay"],
    [() => ""],
    [() => "http://relay.example"],
    [() => "http://10.0.0.1"],
    [() => "http://169.254.169.254/latest"],
    [() => "http://0.0.0.0"],
    [() => "http://[::ffff:127.0.0.1]"],
    [(at) => `http://127.0.0.1.:${at}`],
    [(at) => `http://localhost.:${at}`],
    [(at) => `https://relay.example.:${at}`],
    [(at) => `https:127.0.0.1:${at}`],
    [(at) => `https:///127.0.0.1:${at}`],
    [(at) => `http://127.0.0.1.example:${at}`],
    [(at) => `http://localhost:${at}`, listed],
    [(at) => `https://127.0.0.2:${at}`, listed],
    [(at) => `https://relay.example.:${at}`, listed],
    [(at) => `https://relay.example.evil:${at}`, listed],
    [(at) => `https://evil.relay.example:${at}`, listed],
    [(at) => `https://rel\u0430y.example:${at}`, listed],
    [(at) => `http://127.0.0.1:${at}`, { ...listed, allowedRelayPorts: [443] }],
    [(at) => `http://127.0.0.1:${at}`, { egress: { proxy: "http://127.0.0.1:9" }, allowedRelayHosts: ["127.0.0.1"] }],
    [(at) => `https://127.0.0.1:${at}`, { egress: { proxy: "http://127.0.0.1:9" }, allowedRelayHosts: ["127.0.0.1"] }],
    [() => "https://other.example", { egress: { proxy: "http://127.0.0.1:9" }, allowedRelayHosts: ["relay.example"] }],
  ];

  test.each(rows.map(([url, options]) => [url(1), url, options ?? unverified] as const))(
    "%j",
    async (_, url, options) => {
      const endpoint = createRelayEndpoint(options);
      const link = linkTo(url(port));
      for (const attempt of [
        endpoint.send(link, note, { signal }),
        endpoint.openEvents(link, { after: undefined, signal }),
        endpoint.unregister(link, { signal }),
      ]) {
        const error = await attempt.then(
          () => expect.fail("it was not refused"),
          (thrown: unknown) => thrown,
        );
        expect(error).toMatchObject({ code: "endpoint_refused", outcome: "not_applied", retryable: false });
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(token);
      }
      await endpoint.close();
      expect(connections).toBe(0);
    },
  );

  test("also when it was allowed a moment ago", async () => {
    const endpoint = createRelayEndpoint({ ...unverified, allowedRelayHosts: ["127.0.0.1"] });
    const link = linkTo(`http://127.0.0.1:${port}`);
    expect(await endpoint.send(link, note, { signal })).toEqual({ kind: "accepted" });
    Object.assign(link.invitation, { relayBaseUrl: `http://localhost:${port}` });
    await expect(endpoint.send(link, note, { signal })).rejects.toMatchObject({ code: "endpoint_refused" });
    await endpoint.close();
    expect(connections).toBe(1);
  });
});

describe("an address that is allowed", () => {
  test.each([
    ["a loopback address", (at: number) => `http://127.0.0.1:${at}`, undefined],
    ["localhost", (at: number) => `http://localhost:${at}/mount/`, undefined],
    ["a listed name in another case", (at: number) => `http://LOCALHOST:${at}`, ["LocalHost"]],
  ])("is reached: %s", async (_, url, allowedRelayHosts) => {
    const endpoint = createRelayEndpoint({ egress: { unverified: true }, allowedRelayHosts });
    expect(await endpoint.send(linkTo(url(port)), note, { signal })).toEqual({ kind: "accepted" });
    await endpoint.close();
    expect(received).toMatch(
      /^POST (\/mount)?\/session-1\/inbox\?token=token-0123456789abcdef-SECRET&client=agent HTTP/,
    );
    expect(received.toLowerCase()).not.toMatch(/\n(referer|cookie|user-agent|authorization):/);
  });
});

test("a sender that is aborted while it connects says that nothing was sent", async () => {
  const endpoint = createRelayEndpoint({ egress: { unverified: true } });
  const stop = new AbortController();
  const sending = endpoint
    .send(linkTo(`http://127.0.0.1:${port}`), note, { signal: stop.signal })
    .catch((error) => error);
  stop.abort();
  expect(await sending).toMatchObject({ code: "aborted", outcome: "not_applied" });
  await endpoint.close();
  expect(received).toBe("");
});

describe("that no address is checked", () => {
  test("is said once for each endpoint, to whoever wants to know", async () => {
    const said: string[] = [];
    const endpoint = createRelayEndpoint({ egress: { unverified: true }, onWarning: (message) => said.push(message) });
    for (let i = 0; i < 2; i++) await endpoint.send(linkTo(`http://127.0.0.1:${port}`), note, { signal });
    await endpoint.close();
    expect(said).toEqual([expect.stringMatching(/no address .* is checked/)]);
  });

  test("is a warning of the process where nobody does", async () => {
    const warned = once(process, "warning");
    await createRelayEndpoint({ egress: { unverified: true } }).close();
    expect(await warned).toMatchObject([{ code: "HUMAN_PLUS_UNVERIFIED_EGRESS" }]);
  });

  test("is not said where addresses are", async () => {
    const said: string[] = [];
    const options = { allowedRelayHosts: ["relay.example"], onWarning: (message: string) => said.push(message) };
    await createRelayEndpoint({ ...options, egress: { direct: "pinned" } }).close();
    await createRelayEndpoint({ ...options, egress: { proxy: "http://127.0.0.1:9" } }).close();
    expect(said).toEqual([]);
  });
});
