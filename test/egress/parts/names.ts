import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Lookup } from "@human-plus/core/relay";

export type Table = Readonly<Record<string, readonly string[]>>;

/** Names whose answers change when a test says so. */
export interface Names extends AsyncDisposable {
  readonly lookup: Lookup;
  /** Resolves once the names answer with this. */
  change(table: Table): Promise<void>;
}

export async function createNameTable(table: Table): Promise<Names> {
  let current = table;
  return {
    lookup: async (hostname) => current[hostname] ?? [],
    async change(changed) {
      current = changed;
    },
    async [Symbol.asyncDispose]() {},
  };
}

export const hasDnsmasq = (() => {
  try {
    execFileSync("dnsmasq", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** A DNS server on a loopback port: dnsmasq, with names from a file and from nowhere else. */
export async function startDnsServer(table: Table): Promise<Names> {
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  const hosts = join(folder, "hosts");
  writeFileSync(hosts, linesOf(table));
  const { server, port } = await startDnsmasq(hosts);
  const resolver = new Resolver({ timeout: 1_000, tries: 5 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const lookup: Lookup = async (hostname) => {
    const answers = await Promise.all([orNone(resolver.resolve4(hostname)), orNone(resolver.resolve6(hostname))]);
    return answers.flat();
  };

  async function settle(expected: Table): Promise<void> {
    for (const [name, addresses] of Object.entries(expected)) {
      while (!sameAddresses(await lookup(name).catch(() => undefined), addresses)) {
        if (server.exitCode !== null) throw new Error(`dnsmasq ended with ${server.exitCode}`);
        await wait(5);
      }
    }
  }

  await settle(table);
  return {
    lookup,
    async change(changed) {
      writeFileSync(hosts, linesOf(changed));
      server.kill("SIGHUP"); // It reads its names again.
      await settle(changed);
    },
    async [Symbol.asyncDispose]() {
      if (server.exitCode === null && server.kill()) await once(server, "close");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts it on a port that is free when asked, on another one where somebody was faster. */
async function startDnsmasq(hosts: string, tries = 10): Promise<{ server: ChildProcess; port: number }> {
  const port = await freePort();
  const server = spawn(
    "dnsmasq",
    [
      ...["--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", `--addn-hosts=${hosts}`],
      ...["--local=/example/", "--local-ttl=0", "--bind-interfaces", "--listen-address=127.0.0.1", `--port=${port}`],
      ...["--pid-file=", `--user=${process.getuid?.() === 0 ? "root" : ""}`, "--log-facility=-"],
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  const isUp = await new Promise<boolean>((resolve) => {
    server.once("close", () => resolve(false));
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("read ")) resolve(true);
    });
  });
  if (isUp) return { server, port };
  if (tries > 1 && said.includes("Address already in use")) return startDnsmasq(hosts, tries - 1);
  throw new Error(`dnsmasq ended with ${server.exitCode}:\n${said}`);
}

function linesOf(table: Table): string {
  return Object.entries(table)
    .flatMap(([name, addresses]) => addresses.map((address) => `${address} ${name}\n`))
    .join("");
}

function sameAddresses(found: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return found !== undefined && found.length === wanted.length && wanted.every((address) => found.includes(address));
}

async function orNone(answer: Promise<string[]>): Promise<string[]> {
  try {
    return await answer;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw error;
  }
}

async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}
