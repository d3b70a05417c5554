import {
  type Invitation,
  pollUrl,
  type RegisterRequest,
  registerUrl,
  sendToAgentsUrl,
  streamEventsUrl,
  unregisterUrl,
} from "@human-plus/core/protocol";
import ky from "ky";

/** What an answer of a relay means to a surface. */
export type Answer =
  | "ok"
  /** The relay does not know the session, or not with this token: registering again tells which. */
  | "unknown"
  | "too_large"
  /** The relay is down, busy or broken: later, perhaps. */
  | "later"
  /** The relay will never take this request. */
  | "never";

/** The requests of a surface. No URL leaves it but that of the stream: each holds the token. */
export interface RelayClient {
  readonly streamUrl: string;
  register(): Promise<Answer>;
  send(frame: string): Promise<Answer>;
  unregister(): Promise<Answer>;
  /** @returns the body of the answer, or what went wrong */
  poll(waitMs: number, subscriber: string | undefined): Promise<Answer | { readonly body: unknown }>;
}

/** How much longer than the relay waits a poll may take. */
const GRACE_MS = 10_000;

export function createRelayClient({ relayBaseUrl, sessionId, token }: Invitation, signal: AbortSignal): RelayClient {
  const http = ky.create({
    retry: 0,
    throwHttpErrors: false,
    redirect: "error",
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  const direction = "inbound";

  /** Whatever is thrown here would name the URL, and with it the token: nothing is passed on. */
  async function ask(request: () => Promise<Response>, read?: (body: unknown) => void): Promise<Answer> {
    try {
      const response = await request();
      const text = await response.text();
      if (response.ok) read?.(JSON.parse(text));
      return judge(response.status);
    } catch {
      return "later";
    }
  }

  return {
    streamUrl: streamEventsUrl(relayBaseUrl, sessionId, { token, direction }),
    register: () =>
      ask(() =>
        http.post(registerUrl(relayBaseUrl), { json: { session: sessionId, token } satisfies RegisterRequest, signal }),
      ),
    send: (frame) =>
      ask(() =>
        http.post(sendToAgentsUrl(relayBaseUrl, sessionId, { token }), {
          body: frame,
          headers: { "content-type": "application/json" },
          signal,
        }),
      ),
    unregister: () => ask(() => http.post(unregisterUrl(relayBaseUrl, sessionId, { token }), { keepalive: true })),
    async poll(wait, subscriber) {
      let body: unknown;
      const url = pollUrl(relayBaseUrl, sessionId, { token, direction, wait, subscriber });
      const answer = await ask(
        () => http.get(url, { signal, timeout: wait + GRACE_MS }),
        (read) => {
          body = read;
        },
      );
      return answer === "ok" ? { body } : answer;
    },
  };
}

/** PROTOCOL.md section 3, from the surface's side. */
function judge(status: number): Answer {
  if (status < 300) return "ok";
  if (status === 401 || status === 410) return "unknown";
  if (status === 413) return "too_large";
  return status === 429 || status >= 500 ? "later" : "never";
}
