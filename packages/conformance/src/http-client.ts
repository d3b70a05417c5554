import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import { eventStream, limits } from "@human-plus/core/protocol";
import { NoAnswerError } from "./check.ts";

/** An answer as it came, its body bounded. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** It came over a connection that an earlier answer had left open. */
  readonly reused: boolean;
}

export interface Asking {
  method: string;
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
}

/** A connection for requests that are to be sent as they are: nothing is followed, repeated or added. */
export interface HttpClient {
  /** An event stream that opens counts as answered with its head. @throws NoAnswerError if no whole answer comes in time */
  ask(asking: Asking): Promise<Answer>;
  /** Resolves with the head of the answer; its body is the caller's. */
  open(asking: Asking): Promise<IncomingMessage>;
  close(): void;
}

const MAX_BODY_BYTES = 4 * limits.frameBytes;

export interface HttpClientOptions {
  timeoutMs: number;
  /**
   * Sends one request after the other over one connection. Otherwise each has its own: a kept one may be closed just when
   * the next request leaves, and that would look like a fault.
   *
   * @default false
   */
  keepAlive?: boolean | undefined;
}

export function createHttpClient({ timeoutMs, keepAlive = false }: HttpClientOptions): HttpClient {
  const settings = keepAlive ? { keepAlive, maxSockets: 1 } : { keepAlive };
  const agents = { plain: new Agent(settings), secure: new SecureAgent(settings) };

  function open({ method, url, headers = {}, body }: Asking): Promise<IncomingMessage> {
    const isSecure = url.startsWith("https:");
    const content =
      body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const options = {
      method,
      headers: { ...content, "accept-encoding": "identity", ...headers },
      agent: isSecure ? agents.secure : agents.plain,
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const running = isSecure ? requestHttps(url, options) : requestHttp(url, options);
    const what = `${method} ${new URL(url).pathname}`;
    const timer = setTimeout(
      () =>
        running.destroy(
          new NoAnswerError(`${what} was not answered within ${timeoutMs} ms`, { expected: "an answer" }),
        ),
      timeoutMs,
    );
    running.on("response", (answer) => {
      clearTimeout(timer);
      resolve(Object.assign(answer, { reused: running.reusedSocket }));
    });
    running.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const said = error.code ?? "the connection was closed";
      reject(
        error instanceof NoAnswerError
          ? error
          : new NoAnswerError(`${what} was not answered: ${said}`, { expected: "an answer", cause: error }),
      );
    });
    running.end(body);
    return promise;
  }

  return {
    open,
    async ask(asking) {
      const answer = await open(asking);
      const { reused = false } = answer as { reused?: boolean };
      const head = { status: answer.statusCode ?? 0, headers: answer.headers, reused };
      if (head.status === 200 && head.headers["content-type"]?.startsWith(eventStream.contentType)) {
        answer.destroy();
        return { ...head, body: "" };
      }
      const chunks: Buffer[] = [];
      let size = 0;
      const timer = setTimeout(() => answer.destroy(), timeoutMs);
      try {
        for await (const chunk of answer) {
          size += chunk.length;
          if (size <= MAX_BODY_BYTES) chunks.push(chunk);
          else answer.destroy();
        }
      } catch (cause) {
        throw new NoAnswerError(`the answer to ${asking.method} broke off or did not end`, {
          expected: "a whole answer",
          cause,
        });
      } finally {
        clearTimeout(timer);
      }
      return { ...head, body: Buffer.concat(chunks).toString("utf8") };
    },
    close() {
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
}
