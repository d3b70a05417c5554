import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mcpProtocolVersion, methods } from "@human-plus/core/protocol";
import { expect, test } from "vitest";
import { connectRawSurface } from "./parts/raw-surface.ts";
import { startRelayProcess } from "./parts/relay-process.ts";

const folder = join(import.meta.dirname, "../packages/transport-sse");

test("the example in the README of transport-sse runs as it stands", async () => {
  const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(folder, "README.md"), "utf8"))?.[1] ?? "";
  expect(example).toContain("createSseTransport");
  await using relay = await startRelayProcess();
  const token = "token-of-the-readme-0123";
  await using _surface = await connectRawSurface({
    baseUrl: relay.baseUrl,
    session: "readme",
    token,
    onRequest({ method }) {
      if (method === methods.listTools) return { tools: [{ name: "board_read", inputSchema: { type: "object" } }] };
      return { protocolVersion: mcpProtocolVersion, capabilities: {}, serverInfo: { name: "readme", version: "1" } };
    },
  });
  // Beside the package, so that its imports mean what they mean for a user.
  const script = join(folder, `readme-example-${process.pid}.ts`);
  writeFileSync(script, example);
  try {
    const link = `http://127.0.0.1:${relay.port}/page?session=readme&token=${token}`;
    const child = spawn(process.execPath, ["--conditions=human-plus-source", script, link], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, "close");
    expect({ code, output }).toEqual({ code: 0, output: "board_read\n" });
  } finally {
    rmSync(script, { force: true });
  }
});
