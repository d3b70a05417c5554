import type { RelayEndpointOptions } from "@human-plus/core/relay";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Certificate, trustNewCertificate } from "./parts/certificate.ts";
import { type ForbiddenListener, startForbiddenListener } from "./parts/forbidden-listener.ts";
import { createInternet } from "./parts/internet.ts";
import { failureOf, linkTo, operations, TOKEN } from "./parts/links.ts";
import { type SecureServer, startSecureServer } from "./parts/secure-server.ts";
import { transports } from "./parts/transports.ts";

let certificate: Certificate;
let forbidden: ForbiddenListener;

beforeAll(() => {
  certificate = trustNewCertificate(["relay.example"]);
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

const statuses = [
  "300 Multiple Choices",
  "301 Moved",
  "302 Found",
  "303 See Other",
  "304 Not Modified",
  "307 Temporary",
  "308 Permanent",
];
const places = [
  "https://127.0.0.1:PORT/",
  "http://[::1]:PORT/x",
  "//127.0.0.1:PORT/",
  "http://169.254.169.254/latest",
  "/elsewhere",
  "?x",
];

const redirects = statuses.map((status, index) => [status, places[index % places.length] as string] as const);
const rest = places.map((place) => ["302 Found", place] as const);
const fields = "referrer-policy: unsafe-url\r\nset-cookie: a=b\r\ncontent-length: 0";

/** A relay at a public address that answers everything with this. */
async function start(answer: string): Promise<{ server: SecureServer; options: RelayEndpointOptions }> {
  const server = await startSecureServer({ certificate, behind: answer });
  const { lookup, connect } = createInternet({ answer: async () => ["8.8.8.8"], servers: { "8.8.8.8": server.port } });
  return { server, options: { egress: { direct: "pinned" }, allowedRelayHosts: ["relay.example"], lookup, connect } };
}

describe.each(Object.entries(transports))("%s", (_, createTransport) => {
  describe.each(["query", "bearer"] as const)("token in the %s", (authentication) => {
    test.each([...redirects, ...rest])("%s to %s is not followed", async (status, place) => {
      const location = place.replace("PORT", String(forbidden.port));
      const { server, options } = await start(`HTTP/1.1 ${status}\r\nlocation: ${location}\r\n${fields}\r\n\r\n`);
      const transport = createTransport({ ...options, authentication });
      for (const [name, run] of Object.entries(operations)) {
        const error = await failureOf(run(transport, linkTo("https://relay.example/relay")));
        expect(error, name).toMatchObject({ code: "relay_protocol_error", retryable: false });
        // The leg comes first, so that the frame of an exchange never left.
        if (name === "exchange") expect(error).toMatchObject({ outcome: "not_applied" });
      }
      await transport.close();
      const requests = server.received.split(/(?=(?:GET|POST) \/)/);
      expect(requests.length).toBeGreaterThanOrEqual(3);
      for (const text of requests) {
        expect(text.split(TOKEN)).toHaveLength(2);
        expect(text).toMatch(authentication === "query" ? /^\S+ \S+[?&]token=/ : /\r\nauthorization: Bearer /i);
        expect(text).not.toMatch(authentication === "query" ? /\r\nauthorization:/i : /[?&]token=/);
        expect(text).not.toMatch(/\r\n(referer|cookie|origin):/i);
        expect(text).not.toMatch(/^\S+ \/elsewhere/);
      }
      await server[Symbol.asyncDispose]();
    });
  });

  const json = "content-type: application/json";
  const stream = "content-type: text/event-stream";
  test.each([
    ["compressed JSON", `${json}\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`],
    ["a compressed stream", `${stream}\r\ncontent-encoding: br\r\n\r\n`],
    ["HTML", "content-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"],
    ["no content type", "content-length: 2\r\n\r\n{}"],
    ["endless headers", `${json}\r\n${"x-filler: 0123456789\r\n".repeat(2_000)}`],
  ])("an answer of %s opens no leg", async (_what, answer) => {
    const { server, options } = await start(`HTTP/1.1 200 OK\r\n${answer}`);
    const transport = createTransport(options);
    const error = await failureOf(
      operations.exchange?.(transport, linkTo("https://relay.example/relay")) as Promise<unknown>,
    );
    expect(error).toMatchObject({ code: "relay_protocol_error", outcome: "not_applied" });
    await transport.close();
    expect(server.received).not.toContain("POST ");
    await server[Symbol.asyncDispose]();
  });
});
