import { request } from "node:http";
import { openStream, type TestStream } from "./event-stream.ts";

export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The body as JSON; `undefined` if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is in the test
  readonly json: any;
}

export interface SendOptions {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  /** Aborts it. */
  readonly signal?: AbortSignal;
}

/** One HTTP request, on a connection of its own. */
export function send(
  url: string,
  { method = "GET", body, headers = {}, signal }: SendOptions = {},
): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.once("error", reject);
      answer.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = answer.headers["content-type"] === "application/json";
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

export const token = "token-of-the-session-1";

/** Both ends of one session. */
export class TestSession {
  readonly url: string;
  readonly id: string;
  readonly token: string;

  constructor(relay: { url: string }, id = "canvas-1", ownToken: string = token) {
    this.url = relay.url;
    this.id = id;
    this.token = ownToken;
  }

  register(): Promise<TestAnswer> {
    return post(`${this.url}/register`, { session: this.id, token: this.token });
  }

  /** A URL of the session, with its token. */
  route(path: string, query: Record<string, string | number> = {}): string {
    const parameters = new URLSearchParams({ token: this.token });
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    return `${this.url}/${this.id}/${path}?${parameters}`;
  }

  /** The surface's stream. */
  openSurface(cursor?: string): Promise<TestStream> {
    return openStream(this.route("events"), cursorHeader(cursor));
  }

  openAgent(client: string | undefined, cursor?: string): Promise<TestStream> {
    const query = client === undefined ? { direction: "outbound" } : { client, direction: "outbound" };
    return openStream(this.route("events", query), cursorHeader(cursor));
  }

  toSurface(frame: unknown, client?: string): Promise<TestAnswer> {
    return post(this.route("inbox", client === undefined ? {} : { client }), frame);
  }

  toAgents(frame: unknown): Promise<TestAnswer> {
    return post(this.route("outbox"), frame);
  }

  pollOutbox(query: Record<string, string | number> = {}, options: SendOptions = {}): Promise<TestAnswer> {
    return send(this.route("outbox", { direction: "outbound", ...query }), options);
  }

  poll(query: Record<string, string | number> = {}, options: SendOptions = {}): Promise<TestAnswer> {
    return send(this.route("poll", query), options);
  }

  unregister(client?: string): Promise<TestAnswer> {
    return send(this.route("unregister", client === undefined ? {} : { client }), { method: "POST" });
  }
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> {
  return send(url, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers });
}

function cursorHeader(cursor: string | undefined): Record<string, string> {
  return cursor === undefined ? {} : { "last-event-id": cursor };
}

export const call = (id: string | number, params?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  ...(params === undefined ? {} : { params }),
});
export const result = (id: string | number, value: object = {}) => ({ jsonrpc: "2.0", id, result: value });
export const note = (name: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { data: name } });
export const joined = (client: string) => ({
  jsonrpc: "2.0",
  method: "notifications/peer_joined",
  params: { client },
});
export const left = (client: string) => ({ jsonrpc: "2.0", method: "notifications/peer_left", params: { client } });
/** Resolves when a condition holds; asked again on every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
