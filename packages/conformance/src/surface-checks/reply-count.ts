import { type Frame, jsonRpcVersion, methods, sendToSurfaceUrl, streamEventsUrl } from "@human-plus/core/protocol";
import { createEventLeg } from "../event-leg.ts";
import { createHttpClient } from "../http-client.ts";
import { doesNotHold, holds, type Outcome, unseen } from "../outcome.ts";
import type { SurfaceProbe } from "./surface-probe.ts";

/**
 * Asks over a stream of its own, which shows what a transport does not: second answers, and answers to nothing. What
 * came before the answer to a last request is counted.
 */
export async function countReplies(probe: SurfaceProbe): Promise<Outcome> {
  await probe.handshake();
  const { relayBaseUrl, sessionId } = probe.invitation;
  const client = `conformance-${crypto.randomUUID()}`;
  const query = { token: probe.invitation.exposeToken(), client };
  const http = createHttpClient({ timeoutMs: probe.timeoutMs });
  try {
    const url = streamEventsUrl(relayBaseUrl, sessionId, { ...query, direction: "outbound" });
    const answer = await http.open({ method: "GET", url });
    if (answer.statusCode !== 200) {
      answer.destroy();
      return unseen(`needs an event stream of the relay, which was refused with ${answer.statusCode}`);
    }
    const leg = createEventLeg(answer, probe);
    const ask = async () => {
      const id = crypto.randomUUID();
      const body = JSON.stringify({ jsonrpc: jsonRpcVersion, id, method: methods.ping });
      await http.ask({ method: "POST", url: sendToSurfaceUrl(relayBaseUrl, sessionId, query), body });
      await leg.frame(`an answer to ${methods.ping}`, (frame) => isReply(frame) && frame.id === id);
      return id;
    };
    const ids = [await ask(), await ask(), await ask()];
    const replies = leg.frames().filter(isReply);
    for (const id of ids) {
      const count = replies.filter((frame) => frame.id === id).length;
      if (count !== 1) return doesNotHold("one answer to a request", `${count} answers with the same id`);
    }
    const strangers = replies.length - ids.length;
    return strangers === 0
      ? holds()
      : doesNotHold("answers to what was asked", `${strangers} answers to nothing that was asked`);
  } finally {
    http.close();
  }
}

function isReply(frame: Frame): boolean {
  return frame.method === undefined;
}
