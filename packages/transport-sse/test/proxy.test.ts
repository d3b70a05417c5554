import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startRawRelay, TOKEN } from "./raw-relay.ts";

let folder: string;
let tls: { key: string; cert: string };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "proxy-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert];
  execFileSync("openssl", [...made, ...subject], { stdio: "ignore" });
  tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A CONNECT proxy that writes down all it can read. */
let proxy: Server;
let asked: string[];
let allows = true;

beforeEach(async () => {
  asked = [];
  allows = true;
  proxy = createServer();
  proxy.on("connect", (request, client) => {
    asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    client.on("error", () => {});
    if (!allows) return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const [host, port] = (request.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});

afterEach(() => new Promise((resolve) => proxy.close(resolve)));

/** An agent in a process of its own, because a process learns at its start whose certificates to trust. */
async function run(
  state: string,
  baseUrl: string,
  proxyPort: number,
  trusts = true,
): Promise<{ code: number; output: string }> {
  const options = {
    egress: { proxy: `http://user:word@127.0.0.1:${proxyPort}` },
    allowedRelayHosts: ["localhost"],
    allowedRelayPorts: [Number(new URL(baseUrl).port)],
  };
  const script = join(import.meta.dirname, "agent-process.ts");
  const args = ["--conditions=human-plus-source", script, state, baseUrl, JSON.stringify(options)];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: trusts ? { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "cert.pem") } : process.env,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  return { code, output };
}

const proxyPort = () => (proxy.address() as AddressInfo).port;

test.each(["closed", "idle", "held"])(
  "everything goes through the proxy, which sees no token, and a process ends %s",
  async (state) => {
    await using relay = await startRawRelay({ tls });
    expect(await run(state, relay.baseUrl, proxyPort())).toEqual({ code: 0, output: "answered\n" });
    expect(asked.length).toBeGreaterThanOrEqual(2);
    const { host } = new URL(relay.baseUrl);
    for (const line of asked) {
      expect(line).toMatch(new RegExp(`^CONNECT ${host} `));
      expect(line).not.toContain(TOKEN);
    }
  },
);

test("a relay that the proxy does not let through is refused", async () => {
  allows = false;
  await using relay = await startRawRelay({ tls });
  expect((await run("closed", relay.baseUrl, proxyPort())).output).toBe("endpoint_refused not_applied\n");
  expect(relay.connections()).toBe(0);
});

test("a proxy that is away makes the relay unreachable", async () => {
  await using relay = await startRawRelay({ tls });
  expect((await run("closed", relay.baseUrl, 1)).output).toBe("relay_unreachable not_applied\n");
  expect(relay.connections()).toBe(0);
});

test("a certificate that is not trusted makes the relay unreachable", async () => {
  await using relay = await startRawRelay({ tls });
  expect((await run("closed", relay.baseUrl, proxyPort(), false)).output).toBe("relay_unreachable not_applied\n");
  expect(relay.frames).toHaveLength(0);
});
