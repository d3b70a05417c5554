import { Invitation } from "@human-plus/core";
import type { RelayLink, Request } from "@human-plus/core/protocol";
import { SESSION, TOKEN } from "./relays.ts";

/** A link to the session of the test relays. */
export function linkTo(
  relayBaseUrl: string,
  { id = "attachment-1#0", ...changes }: Partial<Record<"sessionId" | "token" | "id", string>> = {},
): RelayLink {
  const where = {
    relayBaseUrl,
    sessionId: SESSION,
    token: TOKEN,
    surfaceId: "canvas",
    application: "board",
    ...changes,
  };
  return { id, client: "agent-1", invitation: new Invitation(where) };
}

export function request(params: Record<string, unknown> = {}): Request {
  return { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params };
}
