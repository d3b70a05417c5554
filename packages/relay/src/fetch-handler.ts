import type { RelayErrorCode } from "@human-plus/core/protocol";
import type { Broker } from "./broker/broker.ts";
import { PollLeg } from "./broker/poll-leg.ts";
import { StreamLeg } from "./broker/stream-leg.ts";
import type { Answer } from "./http/answers.ts";
import type { BindingOptions } from "./http/binding-options.ts";
import { decodeBody, maxDiscardedBytes } from "./http/body-text.ts";
import { streamHeaders } from "./http/event-stream-text.ts";
import { HttpExchange } from "./http/http-exchange.ts";
import { RequestHandler } from "./http/request-handler.ts";

/** What servers of the fetch kind call for every request. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Bytes a stream hands over ahead of its reader. */
const STREAM_BUFFER_BYTES = 65_536;

/**
 * Binds a broker to servers that take a `Request` and give a `Response`. Uses Web standards only. A request whose
 * `signal` aborts, or whose body stream is cancelled, closes its leg.
 *
 * @throws RangeError for a prefix or an origin that is none
 */
export function createFetchHandler(broker: Broker, options: BindingOptions = {}): FetchHandler {
  const handler = new RequestHandler(broker, options);
  return (request) => new Promise((resolve) => handler.handle(new FetchExchange(handler, request, resolve)));
}

class FetchExchange extends HttpExchange {
  readonly target: string;
  readonly #request: Request;
  readonly #resolve: (response: Response) => void;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isCancelled = false;
  /** The answer to a poll was taken by the server. */
  #isGiven = false;
  /** The answer to a poll may end. */
  #isSettled = false;

  constructor(handler: RequestHandler, request: Request, resolve: (response: Response) => void) {
    super(handler);
    this.#request = request;
    this.#resolve = resolve;
    const { pathname, search } = new URL(request.url);
    this.target = pathname + search;
  }

  get method(): string {
    return this.#request.method;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  readBody(maxBytes: number, done: (body: { readonly text: string } | RelayErrorCode) => void): void {
    readAtMost(this.#request.body, maxBytes).then(
      (bytes) => {
        if (bytes === undefined) {
          done("payload_too_large");
          return;
        }
        const text = decodeBody(bytes);
        done(text === undefined ? "invalid_json" : { text });
      },
      () => done("invalid_json"), // the body broke off: nobody may be left to read this
    );
  }

  send(answer: Answer, headers: Readonly<Record<string, string>>): void {
    const body = answer.status === 204 ? null : answer.body;
    this.#resolve(new Response(body, { status: answer.status, headers: { ...answer.headers, ...headers } }));
  }

  override sendHeld(answer: Answer, headers: Readonly<Record<string, string>>): void {
    // The server asks for more once it has handed on what it was given.
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller;
        },
        pull: (controller) => {
          if (!this.#isGiven) controller.enqueue(new TextEncoder().encode(answer.body));
          else if (this.leg instanceof PollLeg) this.leg.delivered();
          this.#isGiven = true;
          if (this.#isSettled) this.finish();
        },
        cancel: () => this.#cancel(),
      },
      { highWaterMark: 0 },
    );
    this.#resolve(new Response(body, { status: answer.status, headers: { ...answer.headers, ...headers } }));
  }

  override settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#isGiven) this.finish();
  }

  /** Servers of the fetch kind show no connection: what can be seen is seen before the answer ends. */
  override outlivesAnswer(): boolean {
    return false;
  }

  watch(leg: StreamLeg | PollLeg): void {
    const { signal } = this.#request;
    if (signal.aborted) this.#cancel();
    else signal.addEventListener("abort", () => this.#cancel(), { once: true });
    if (this.#isCancelled) leg.closed();
  }

  override cut(): void {
    this.#stream?.error(new Error("the reader is too slow"));
  }

  override isOpen(): boolean {
    return !this.#isCancelled && !this.#request.signal.aborted;
  }

  protected override begin(text: string): boolean {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller;
        },
        pull: () => {
          if (this.leg instanceof StreamLeg) this.leg.drained();
        },
        cancel: () => this.#cancel(),
      },
      { highWaterMark: STREAM_BUFFER_BYTES, size: (chunk) => chunk.byteLength },
    );
    this.#resolve(new Response(body, { headers: { ...streamHeaders, ...this.handler.corsHeaders(this) } }));
    this.handler.answered(this, 200, "streamEvents");
    return this.write(text);
  }

  protected override write(text: string): boolean {
    if (this.#stream === undefined || this.#isCancelled) return false;
    this.#stream.enqueue(new TextEncoder().encode(text));
    return (this.#stream.desiredSize ?? 0) > 0;
  }

  protected override finish(): void {
    if (!this.#isCancelled) this.#stream?.close();
  }

  #cancel(): void {
    this.#isCancelled = true;
    this.leg?.closed();
  }
}

/** The whole body, or `undefined` if it is larger. What is over is read and thrown away, up to a bound. */
async function readAtMost(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size <= maxBytes) chunks.push(value);
    else chunks.length = 0;
    if (size > maxBytes + maxDiscardedBytes) {
      await reader.cancel().catch(() => undefined);
      break;
    }
  }
  if (size > maxBytes) return undefined;
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
