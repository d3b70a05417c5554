import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
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

/** A listener for `request` events of a `node:http` server. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Binds a broker to `node:http`. The server stays the caller's: `requestTimeout` bounds how long a body may take.
 *
 * @throws RangeError for a prefix or an origin that is none
 */
export function createNodeListener(broker: Broker, options: BindingOptions = {}): NodeListener {
  const handler = new RequestHandler(broker, options);
  /** The newest answer of each connection. */
  const newest = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const { socket } = request;
    const handle = () => handler.handle(new NodeExchange(handler, request, response));
    const before = newest.get(socket);
    newest.set(socket, response);
    // Requests that are pipelined come many at once. One after another, their answers do not pile up unread.
    if (before === undefined || before.writableFinished || before.destroyed) handle();
    else before.once("close", () => socket.destroyed || handle());
  };
}

class NodeExchange extends HttpExchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** The connection broke, or was closed by the other end. */
  readonly #onClose = (): void => {
    this.leg?.closed();
  };

  constructor(handler: RequestHandler, request: IncomingMessage, response: ServerResponse) {
    super(handler);
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get target(): string {
    return this.#request.url ?? "";
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  readBody(maxBytes: number, done: (body: { readonly text: string } | RelayErrorCode) => void): void {
    const request = this.#request;
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else chunks.length = 0; // reads on, so that the connection can be kept
      if (size <= maxBytes + maxDiscardedBytes || this.#response.writableEnded) return;
      this.#response.shouldKeepAlive = false;
      request.pause();
      done("payload_too_large");
    });
    request.on("end", () => {
      if (this.#response.writableEnded) return;
      if (size > maxBytes) {
        done("payload_too_large");
        return;
      }
      const text = decodeBody(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      done(text === undefined ? "invalid_json" : { text });
    });
  }

  send(answer: Answer, headers: Readonly<Record<string, string>>): void {
    if (!this.#sendHead(answer, headers)) return;
    this.#response.end(answer.status === 204 ? undefined : answer.body);
  }

  override sendHeld(answer: Answer, headers: Readonly<Record<string, string>>): void {
    if (!this.#sendHead(answer, headers)) return;
    const delivered = () => {
      if (this.leg instanceof PollLeg) this.leg.delivered();
    };
    if (this.outlivesAnswer()) {
      // The connection may serve others meanwhile: it is its close that is waited for, not the end of this answer.
      this.#request.socket.once("close", this.#onClose);
      this.#response.end(answer.body, delivered);
    } else this.#response.write(answer.body, delivered);
  }

  override settle(): void {
    if (this.outlivesAnswer()) this.#request.socket.off("close", this.#onClose);
    else this.#response.end();
  }

  override outlivesAnswer(): boolean {
    return this.#response.shouldKeepAlive;
  }

  #sendHead(answer: Answer, headers: Readonly<Record<string, string>>): boolean {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return false;
    const length = answer.status === 204 ? {} : { "content-length": Buffer.byteLength(answer.body) };
    response.writeHead(answer.status, { ...answer.headers, ...headers, ...length });
    return true;
  }

  watch(leg: StreamLeg | PollLeg): void {
    const response = this.#response;
    if (response.destroyed) {
      leg.closed();
      return;
    }
    response.once("close", () => {
      // An answered poll looks at the connection instead.
      if (!(leg instanceof PollLeg) || !response.writableFinished || !this.outlivesAnswer()) leg.closed();
    });
  }

  override cut(): void {
    this.#request.socket.destroy();
  }

  override isOpen(): boolean {
    const { socket } = this.#request;
    return !socket.destroyed && !socket.readableEnded;
  }

  protected override begin(text: string): boolean {
    this.#response.writeHead(200, { ...streamHeaders, ...this.handler.corsHeaders(this) });
    this.handler.answered(this, 200, "streamEvents");
    return this.write(text);
  }

  protected override write(text: string): boolean {
    const response = this.#response;
    if (response.destroyed) return false;
    if (response.write(text)) return true;
    response.once("drain", () => {
      if (this.leg instanceof StreamLeg) this.leg.drained();
    });
    return false;
  }

  protected override finish(): void {
    this.#response.end();
  }
}
