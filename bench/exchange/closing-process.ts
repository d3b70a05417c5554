import { Invitation } from "@human-plus/core";
import { createSseTransport } from "@human-plus/transport-sse";

// Makes a call, closes, says when, and has nothing more to do.
const [, , relayBaseUrl = "", sessionId = "", token = ""] = process.argv;
const transport = createSseTransport({ egress: { unverified: true } });
const invitation = new Invitation({ relayBaseUrl, sessionId, token, surfaceId: "x", application: "x" });
const request = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "ping" } as const;
await transport.exchange({ id: "a", client: "agent", invitation }, request, { timeoutMs: 30_000 });
await transport.close();
process.stdout.write(`${Date.now()}\n`);
