import {
  type Invitation,
  pollUrl,
  type RegisterRequest,
  registerUrl,
  sendToAgentsUrl,
  streamEventsUrl,
  unregisterUrl,
} from "@human-plus/core/protocol";

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

const SHARED = {
  redirect: "error",
  cache: "no-store",
  credentials: "omit",
  referrerPolicy: "no-referrer",
} as const satisfies RequestInit;
const JSON_HEADERS = { "content-type": "application/json" };

/** @param answerTimeoutMs for each request, to the last byte of its answer; a poll has as much more than the relay waits */
export function createRelayClient(
  { relayBaseUrl, sessionId, token }: Invitation,
  signal: AbortSignal,
  answerTimeoutMs: number,
): RelayClient {
  const direction = "inbound";

  /** Whatever is thrown here would name the URL, and with it the token: nothing is passed on. */
  async function ask(
    url: string,
    init: RequestInit,
    { waitMs = 0, read }: { waitMs?: number; read?: (body: unknown) => void } = {},
  ): Promise<Answer> {
    const own = new AbortController();
    const stop = () => own.abort();
    const timer = setTimeout(stop, waitMs + answerTimeoutMs);
    signal.addEventListener("abort", stop);
    if (signal.aborted && !init.keepalive) stop(); // leaving outlives what is left
    try {
      const response = await fetch(url, { ...SHARED, ...init, signal: own.signal });
      const text = await response.text();
      if (response.ok) read?.(JSON.parse(text));
      return judge(response.status);
    } catch {
      return "later";
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  const post = (url: string, body: string) => ask(url, { method: "POST", headers: JSON_HEADERS, body });

  return {
    streamUrl: streamEventsUrl(relayBaseUrl, sessionId, { token, direction }),
    register: () =>
      post(registerUrl(relayBaseUrl), JSON.stringify({ session: sessionId, token } satisfies RegisterRequest)),
    send: (frame) => post(sendToAgentsUrl(relayBaseUrl, sessionId, { token }), frame),
    unregister: () => ask(unregisterUrl(relayBaseUrl, sessionId, { token }), { method: "POST", keepalive: true }),
    async poll(waitMs, subscriber) {
      let body: unknown;
      const url = pollUrl(relayBaseUrl, sessionId, { token, direction, wait: waitMs, subscriber });
      const read = (read: unknown) => {
        body = read;
      };
      const answer = await ask(url, {}, { waitMs, read });
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
