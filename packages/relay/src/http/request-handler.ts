import {
  eventStream,
  type Parsed,
  type RelayErrorCode,
  type RouteName,
  safeParseClientId,
  safeParseSessionId,
} from "@human-plus/core/protocol";
import type { Broker } from "../broker/broker.ts";
import type { PollBatch } from "../broker/sinks.ts";
import {
  type Answer,
  acceptedAnswer,
  healthAnswer,
  outboxPollAnswer,
  pollAnswer,
  refusalAnswer,
  streamRefusalAnswer,
} from "./answers.ts";
import type { BindingOptions } from "./binding-options.ts";
import { type Cors, createCors } from "./cors.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { defaultMount, normaliseMount } from "./mount.ts";
import { readRegisterBody } from "./register-body.ts";
import { type RelayRequest, readRelayRequest } from "./relay-request.ts";

/** What a relay does with a request, whatever carries it. Both bindings use this and add only how bytes come and go. */
export class RequestHandler {
  readonly #broker: Broker;
  readonly #mount: string;
  readonly #cors: Cors;
  readonly #options: BindingOptions;

  constructor(broker: Broker, options: BindingOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#mount = normaliseMount(options.prefix ?? defaultMount);
    this.#cors = createCors(options.cors ?? []);
  }

  now(): number {
    return this.#broker.settings.clock.now();
  }

  handle(exchange: HttpExchange): void {
    if (exchange.method === "OPTIONS") {
      const headers = this.#cors.preflightHeaders(exchange.header("origin"));
      this.#send(exchange, { status: 204, headers, body: "" }, undefined);
      return;
    }
    const headers = {
      authorization: exchange.header("authorization"),
      cursor: exchange.header(eventStream.cursorHeader) || undefined,
    };
    const request = readRelayRequest(exchange.method, exchange.target, headers, this.#mount);
    if ("route" in request && !("refusal" in request)) {
      exchange.request = request;
      this.#route(exchange, request);
      return;
    }
    const answer =
      request.route === "streamEvents" ? streamRefusalAnswer(request.refusal) : refusalAnswer(request.refusal);
    if (request.allowed === undefined) {
      this.#send(exchange, answer, request.route);
      return;
    }
    this.#send(exchange, { ...answer, headers: { ...answer.headers, allow: request.allowed.join(", ") } }, undefined);
  }

  answerPoll(exchange: HttpExchange, batch: PollBatch): void {
    const route = exchange.request?.route;
    const answer = route === "pollOutbox" ? outboxPollAnswer(batch) : pollAnswer(batch);
    exchange.sendHeld(answer, this.corsHeaders(exchange));
    this.answered(exchange, answer.status, route);
  }

  refuse(exchange: HttpExchange, reason: RelayErrorCode): void {
    const route = exchange.request?.route;
    this.#send(exchange, route === "streamEvents" ? streamRefusalAnswer(reason) : refusalAnswer(reason), route);
  }

  /** Headers for the origin of an exchange that answers by itself. */
  corsHeaders(exchange: HttpExchange): Readonly<Record<string, string>> {
    return this.#cors.answerHeaders(exchange.header("origin"));
  }

  /** Tells the log of an answer, and lets go of the request, which holds the token. */
  answered(exchange: HttpExchange, status: number, route: RouteName | undefined): void {
    const { request } = exchange;
    exchange.request = undefined;
    this.#options.onAnswer?.({
      method: exchange.method,
      route,
      status,
      durationMs: this.now() - exchange.startedAt,
      session: named(request?.session, safeParseSessionId),
      client: named(request?.client, safeParseClientId),
    });
  }

  #route(exchange: HttpExchange, request: RelayRequest): void {
    switch (request.route) {
      case "health":
        this.#send(exchange, healthAnswer(this.#broker.isDraining), request.route);
        return;
      case "metrics":
        this.#sendMetrics(exchange);
        return;
      case "register":
        this.#readBody(exchange, (body) => {
          const read = readRegisterBody(body, this.#broker.settings.maxFrameBytes);
          return typeof read === "string" ? read : this.#broker.register(read.session, read.token);
        });
        return;
      case "sendToSurface":
        this.#readFrame(exchange, request, (text) => this.#broker.sendToSurface(request, text));
        return;
      case "sendToAgents":
        this.#readFrame(exchange, request, (text) => this.#broker.sendToAgents(request, text));
        return;
      case "unregister":
        this.#finish(exchange, this.#broker.unregister(request));
        return;
      case "streamEvents":
        this.#watch(exchange, this.#broker.openStream(request, exchange));
        return;
      case "pollOutbox":
      case "poll":
        this.#watch(exchange, this.#broker.openPoll(request, exchange));
        return;
      default:
        request.route satisfies never;
    }
  }

  /** Who may not send is told so before the body is read. */
  #readFrame(exchange: HttpExchange, request: RelayRequest, take: (text: string) => RelayErrorCode | undefined): void {
    const refusal = this.#broker.authorize(request);
    if (refusal !== undefined) {
      this.refuse(exchange, refusal);
      return;
    }
    this.#readBody(exchange, take);
  }

  #readBody(exchange: HttpExchange, take: (text: string) => RelayErrorCode | undefined): void {
    exchange.readBody(this.#broker.settings.maxFrameBytes, (body) => {
      if (typeof body === "string") this.refuse(exchange, body);
      else this.#finish(exchange, take(body.text));
    });
  }

  #finish(exchange: HttpExchange, refusal: RelayErrorCode | undefined): void {
    if (refusal === undefined) this.#send(exchange, acceptedAnswer, exchange.request?.route);
    else this.refuse(exchange, refusal);
  }

  #watch(exchange: HttpExchange, leg: ReturnType<Broker["openStream"]> | ReturnType<Broker["openPoll"]>): void {
    if (typeof leg === "string") {
      this.refuse(exchange, leg);
      return;
    }
    exchange.leg = leg;
    exchange.watch(leg);
  }

  #sendMetrics(exchange: HttpExchange): void {
    const { metrics } = this.#options;
    if (metrics === undefined) {
      this.refuse(exchange, "not_found");
      return;
    }
    metrics().then(
      ({ contentType, text }) => {
        const headers = { "content-type": contentType, "cache-control": "no-store" };
        this.#send(exchange, { status: 200, headers, body: text }, "metrics");
      },
      () => this.refuse(exchange, "internal_error"),
    );
  }

  #send(exchange: HttpExchange, answer: Answer, route: RouteName | undefined): void {
    exchange.send(answer, this.corsHeaders(exchange));
    this.answered(exchange, answer.status, route);
  }
}

/** A query that was encoded twice ends up in a name, with the token: what could be one is told to no log. */
function named(name: string | undefined, safeParse: (name: unknown) => Parsed<string>): string | undefined {
  return safeParse(name).ok && name?.includes("=") === false ? name : undefined;
}
