import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { environmentName, flagList } from "../src/cli/flags.ts";
import { helpText } from "../src/cli/help-text.ts";
import { call, result, send, TestSession, token } from "./support/session-client.ts";

const cli = join(import.meta.dirname, "../src/cli.ts");
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

interface Run {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Resolves with the relay base URL, from the first line. */
  readonly url: Promise<string>;
  readonly exited: Promise<number | null>;
}

function run(args: string[], environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ["--conditions=human-plus-source", cli, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const output: Run = {
    child,
    stdout: "",
    stderr: "",
    url: new Promise((resolve, reject) => {
      child.stdout?.on("data", (chunk) => {
        output.stdout += chunk;
        const line = /^human-plus-relay listening on (\S+)\n/.exec(output.stdout);
        if (line?.[1] !== undefined) resolve(line[1]);
      });
      child.once("exit", () => reject(new Error(`it ended:\n${output.stdout}\n${output.stderr}`)));
    }),
    exited: new Promise((resolve) => {
      child.once("close", (code) => {
        running.delete(child);
        resolve(code);
      });
    }),
  };
  output.url.catch(() => undefined);
  child.stderr?.on("data", (chunk) => {
    output.stderr += chunk;
  });
  return output;
}

describe("human-plus-relay", () => {
  test.each([
    [["--port", "99999"], "--port takes a port from 0 to 65535"],
    [["--ttl-ms", "soon"], "--ttl-ms takes a positive integer"],
    [["--max-sessions", "0"], "--max-sessions takes a positive integer"],
    [["--log-level", "loud"], "--log-level takes one of"],
    [["--cors", "app.example"], '"app.example" is no origin'],
    [["--prefix", "/a?b"], "is no path"],
    [["--host", ""], "--host is empty"],
    [["--nonsense"], "--nonsense"],
    [["extra"], "extra"],
    [["--port"], "--port"],
  ])("refuses %j, says why, and exits with 2", async (args, message) => {
    const relay = run(["--port", "0", ...args]);
    expect(await relay.exited).toBe(2);
    expect(relay.stderr).toContain(message);
    expect(relay.stderr).toContain("--help");
    expect(relay.stderr).not.toContain("    at ");
    expect(relay.stdout).toBe("");
  });

  test("names the variable when a variable is wrong", async () => {
    const relay = run([], { HUMAN_PLUS_RELAY_MAX_SESSIONS: "many" });
    expect(await relay.exited).toBe(2);
    expect(relay.stderr).toContain("HUMAN_PLUS_RELAY_MAX_SESSIONS takes a positive integer");
  });

  test("exits with 1 when it cannot listen", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const relay = run(["--port", String((taken.address() as AddressInfo).port)]);
    expect(await relay.exited).toBe(1);
    expect(relay.stderr).toContain("EADDRINUSE");
    taken.close();
  });

  test("takes flags and variables, and a flag beats its variable", async () => {
    const relay = run(["--port", "0", "--prefix", "/mine", "--no-metrics"], {
      HUMAN_PLUS_RELAY_PREFIX: "/theirs",
      HUMAN_PLUS_RELAY_CORS: "https://a.example, https://b.example",
      HUMAN_PLUS_RELAY_MAX_SESSIONS: "1",
    });
    const url = await relay.url;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mine$/);
    const { headers } = await send(`${url}/`, { headers: { origin: "https://b.example" } });
    expect(headers["access-control-allow-origin"]).toBe("https://b.example");
    expect(await new TestSession({ url }, "first").register()).toMatchObject({ status: 200 });
    expect(await new TestSession({ url }, "second").register()).toMatchObject({ status: 503 });
    expect(await send(`${url}/metrics`)).toMatchObject({ status: 404 });
  });

  test("SIGTERM: no more connections, the answer in flight is delivered, legs are told, exit 0", async () => {
    const relay = run(["--port", "0", "--drain-ms", "20000"]);
    const session = new TestSession({ url: await relay.url });
    await session.register();
    const surface = await session.openSurface();
    const agent = await session.openAgent("a");
    const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    await session.toSurface(call("1"), "a");
    expect(await surface.frame()).toMatchObject({ method: "notifications/peer_joined" });
    expect(await surface.frame()).toEqual(call("1"));
    // A body under way when the signal comes holds its connection open, as one of a busy surface would.
    const late = request(session.route("outbox"), { method: "POST", agent: keepAlive });
    const lateStatus = new Promise((resolve, reject) => {
      late.once("error", reject);
      late.once("response", (incoming) => resolve(incoming.resume().statusCode));
    });
    const text = JSON.stringify(result("1"));
    await new Promise<void>((resolve) => late.write(text.slice(0, 5), () => resolve()));
    relay.child.kill("SIGTERM");
    await untilRefused(session.url);
    late.end(text.slice(5));
    expect(await lateStatus).toBe(200);
    expect(await agent.frame()).toEqual(result("1"));
    expect(await agent.next()).toMatchObject({ event: "error", data: "shutting_down" });
    expect(await relay.exited).toBe(0);
    keepAlive.destroy();
  });

  test("SIGINT with nothing in flight exits 0 without waiting", async () => {
    const relay = run(["--port", "0", "--drain-ms", "600000"]);
    const session = new TestSession({ url: await relay.url });
    await session.register();
    const agent = await session.openAgent("a");
    relay.child.kill("SIGINT");
    expect(await agent.next()).toMatchObject({ event: "error", data: "shutting_down" });
    expect(await relay.exited).toBe(0);
  });

  test("logs JSON lines on standard error, without tokens or URLs of sessions", async () => {
    const relay = run(["--port", "0", "--log-level", "trace"]);
    const session = new TestSession({ url: await relay.url });
    await session.register();
    await session.toSurface(call("1"), "a");
    await send(session.route("events", { client: "" }));
    await send(`${session.url}/${session.id}/inbox?client=a`, {
      method: "POST",
      body: "{",
      headers: { authorization: `Bearer ${token}` },
    });
    await session.unregister();
    relay.child.kill("SIGTERM");
    await relay.exited;
    const lines = relay.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(["listening", "session_opened", "answered", "session_ended", "stopping", "stopped"]),
    );
    expect(relay.stderr + relay.stdout).not.toContain(token);
    expect(relay.stderr).not.toContain("?");
  });

  test("takes times that no timer of the platform takes", async () => {
    const relay = run(["--port", "0", "--ttl-ms", "9000000000", "--drain-ms", "9000000000", "--log-level", "error"]);
    const session = new TestSession({ url: await relay.url });
    await session.register();
    await new Promise((resolve) => setTimeout(resolve, 50));
    relay.child.kill("SIGTERM");
    expect(await relay.exited).toBe(0);
    expect(relay.stderr).toBe("");
  });

  test("shows help and version", async () => {
    const help = run(["--help"]);
    expect(await help.exited).toBe(0);
    expect(help.stdout).toBe(helpText());
    const version = run(["--version"]);
    expect(await version.exited).toBe(0);
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8"));
    expect(version.stdout).toBe(`${manifest.version}\n`);
  });

  test("the README lists every flag, its variable and its default", () => {
    const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
    for (const { name, otherwise } of flagList) {
      const row = readme.split("\n").find((line) => line.startsWith(`| \`--${name}\``));
      expect(row, `no row for --${name}`).toBeDefined();
      expect(row).toContain(otherwise);
    }
    expect(readme).toContain(environmentName("ttl-ms"));
  });
});

/** Resolves when no new connection is taken. */
async function untilRefused(url: string): Promise<void> {
  for (;;) {
    const isRefused = await send(`${url}/`).then(
      () => false,
      () => true,
    );
    if (isRefused) return;
  }
}
