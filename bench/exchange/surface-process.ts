import { mcpProtocolVersion, methods } from "@human-plus/core/protocol";
import { connectRawSurface } from "../../test/parts/raw-surface.ts";

// A surface for each session, with nothing of ours in it, that answers at once.
const [, , baseUrl = "", token = "", ...sessions] = process.argv;
const tool = { name: "echo", description: "Gives back what it gets.", inputSchema: { type: "object" } };
let revision = 0;
for (const session of sessions) {
  await connectRawSurface({
    baseUrl,
    session,
    token,
    onRequest({ method, params }) {
      switch (method) {
        case methods.initialize:
          return { protocolVersion: mcpProtocolVersion, capabilities: {}, serverInfo: { name: "bench", version: "1" } };
        case methods.listTools:
          return { tools: [tool] };
        default:
          return {
            content: [{ type: "text", text: JSON.stringify(params?.["arguments"] ?? {}) }],
            _meta: { revision: String(revision++) },
          };
      }
    },
  });
}
process.stdout.write("ready\n");
