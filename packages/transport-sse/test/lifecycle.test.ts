import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Arrival, accept, linkTo, openTransport, request, startRawRelay } from "./raw-relay.ts";

const LONG = { timeoutMs: 20_000 };

describe("a leg", () => {
  test("is closed once nobody has needed it for a while, and opened for the next exchange", async () => {
    await using relay = await startRawRelay();
    await using transport = openTransport({ idleLegMs: 50 });
    const link = linkTo(relay.baseUrl);
    await transport.exchange(link, request(), LONG);
    await relay.until(() => !relay.sockets.has((relay.streams[0] as Arrival).socket));
    await transport.exchange(link, request(), LONG);
    expect(relay.streams).toHaveLength(2);
    expect(relay.streams[1]?.client).toBe(relay.streams[0]?.client);
  });

  test("stays open while an exchange waits, and while it is held", async () => {
    await using relay = await startRawRelay({ onFrame: accept });
    await using transport = openTransport({ idleLegMs: 20 });
    const link = linkTo(relay.baseUrl);
    const release = transport.hold(link);
    await transport.exchange(link, request(), { timeoutMs: 200 }).catch(() => {});
    // Had it been closed, the next exchange would have opened another one.
    await transport.exchange(link, request(), { timeoutMs: 200 }).catch(() => {});
    expect(relay.streams).toHaveLength(1);
    release();
    release();
    await relay.until(() => !relay.sockets.has((relay.streams[0] as Arrival).socket));
  });

  test("that is held opens again by itself, also after it could not be opened at all", async () => {
    await using relay = await startRawRelay({
      onEvents({ response, socket }, raw) {
        if (raw.streams.length < 3) return void socket.destroy();
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
        if (raw.streams.length === 3) response.end();
      },
    });
    await using transport = openTransport();
    transport.hold(linkTo(relay.baseUrl));
    await relay.until(() => relay.streams.length === 4);
  });
});

describe("close", () => {
  test("ends what waits with an unknown outcome, what was not sent with not_applied, and leaves no socket", async () => {
    await using relay = await startRawRelay({
      onEvents({ response, url }) {
        if (url.searchParams.get("client")?.startsWith("late")) return;
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
      },
      onFrame: accept,
    });
    const transport = openTransport();
    const link = linkTo(relay.baseUrl);
    const late = { ...linkTo(relay.baseUrl, "b"), client: "late" };
    const sent = transport.exchange(link, request(), LONG).catch((error) => error);
    const unsent = transport.exchange(late, request(), LONG).catch((error) => error);
    transport.hold(linkTo(relay.baseUrl, "c"));
    await relay.until(
      () => relay.frames.some(({ response }) => response.writableFinished) && relay.streams.length === 3,
    );
    await transport.close();
    expect(await sent).toMatchObject({ code: "closed", outcome: "unknown" });
    expect(await unsent).toMatchObject({ code: "closed", outcome: "not_applied" });
    await relay.until(() => relay.sockets.size === 0);
    await expect(transport.exchange(link, request(), LONG)).rejects.toMatchObject({
      code: "closed",
      outcome: "not_applied",
    });
    await transport.close();
  });
});

describe("a process", () => {
  test.each(["closed", "idle", "held"])("ends by itself when its transport is %s", async (state) => {
    await using relay = await startRawRelay();
    const { code, output } = await run(state, relay.baseUrl);
    expect({ code, output }).toEqual({ code: 0, output: "answered\n" });
  });

  test("stays alive while an exchange waits", async () => {
    await using relay = await startRawRelay({ onFrame: accept });
    const { output } = await run("waiting", relay.baseUrl);
    expect(output).toBe("relay_timeout unknown\n");
  });
});

async function run(state: string, baseUrl: string): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, "agent-process.ts");
  const child = spawn(process.execPath, ["--conditions=human-plus-source", script, state, baseUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  return { code, output };
}
