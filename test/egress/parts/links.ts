import { Invitation, type RelayTransport } from "@human-plus/core";
import type { Notification, RelayLink, Request } from "@human-plus/core/protocol";
import { SESSION, TOKEN } from "../../transports/parts/relays.ts";

export { SESSION, TOKEN };

/** A link whose base URL is what a row says, also where no invitation would take it: rows may be written by other code. */
export function linkTo(relayBaseUrl: string): RelayLink {
  const fields = { sessionId: SESSION, token: TOKEN, surfaceId: "board", application: "canvas" };
  const invitation = new Invitation({ ...fields, relayBaseUrl: "https://relay.example" });
  Object.assign(invitation, { relayBaseUrl });
  return { id: `link to ${relayBaseUrl}`, client: "agent", invitation };
}

export const notification: Notification = { jsonrpc: "2.0", method: "notifications/initialized" };

export function request(): Request {
  return { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/list" };
}

/** Everything that a transport can be asked to send. */
export const operations: Readonly<Record<string, (transport: RelayTransport, link: RelayLink) => Promise<unknown>>> = {
  exchange: (transport, link) => transport.exchange(link, request(), { timeoutMs: 10_000 }),
  notify: (transport, link) => transport.notify(link, notification, { timeoutMs: 10_000 }),
  detach: (transport, link) => transport.detach(link, { timeoutMs: 10_000 }),
};

export function failureOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    (value) => {
      throw new Error(`nothing failed: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
