import { join } from "node:path";
import { mcpProtocolVersion, methods } from "@human-plus/core/protocol";
import { expect, test } from "vitest";
import { connectRawSurface } from "./parts/raw-surface.ts";
import { readmeExample, runExample } from "./parts/readme-example.ts";
import { startRelayProcess } from "./parts/relay-process.ts";

test.each(["transport-sse", "transport-longpoll"])(
  "the example in the README of %s runs as it stands",
  async (name) => {
    const folder = join(import.meta.dirname, "../packages", name);
    const example = readmeExample(folder, "ts");
    expect(example).toContain(`@human-plus/${name}`);
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
    const link = `http://127.0.0.1:${relay.port}/page?session=readme&token=${token}`;
    expect(await runExample(folder, example, [link])).toEqual({ code: 0, output: "board_read\n" });
  },
);
