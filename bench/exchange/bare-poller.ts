import { request } from "undici";
import type { BareClient, BareClientOptions } from "./bare-client.ts";

/** The pattern without a safety net: a POST, and polls one after the other for as long as somebody waits. */
export function openBarePoller({ baseUrl, session, token, client, agent }: BareClientOptions): BareClient {
  const waiting = new Map<string, (frame: unknown) => void>();
  const query = new URLSearchParams({ token, client });
  const inbox = `${baseUrl}/${session}/inbox?${query}`;
  const outbox = `${baseUrl}/${session}/outbox?${query}&direction=outbound&wait=5`;
  const headers = { "content-type": "application/json" };
  let cursor: string | undefined;
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    while (waiting.size > 0) {
      const after = cursor === undefined ? "" : `&after=${cursor}`;
      const answer = await request(`${outbox}${after}`, { dispatcher: agent });
      const body = (await answer.body.json()) as { frames: { id: string }[]; cursor: string };
      cursor = body.cursor;
      for (const frame of body.frames) {
        waiting.get(frame.id)?.(frame);
        waiting.delete(frame.id);
      }
    }
    isPolling = false;
  }

  return {
    call(argument) {
      return new Promise((resolve, reject) => {
        const id = crypto.randomUUID();
        waiting.set(id, resolve);
        if (!isPolling) poll().catch(reject);
        const params = { name: "echo", arguments: { argument } };
        const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
        request(inbox, { method: "POST", dispatcher: agent, headers, body }).then(
          (answer) => answer.body.dump(),
          reject,
        );
      });
    },
  };
}
