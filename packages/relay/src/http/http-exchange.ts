import type { RelayErrorCode } from "@human-plus/core/protocol";
import type { PollLeg } from "../broker/poll-leg.ts";
import type { PollBatch, PollSink } from "../broker/sinks.ts";
import type { StreamLeg } from "../broker/stream-leg.ts";
import type { Answer } from "./answers.ts";
import type { RelayRequest } from "./relay-request.ts";
import type { RequestHandler } from "./request-handler.ts";
import { StreamTextSink } from "./stream-text-sink.ts";

/**
 * One request and its answer, as the request handler sees them. It is also the sink of the leg it opens, so that an
 * idle leg costs one object. A binding adds how bytes come and go.
 */
export abstract class HttpExchange extends StreamTextSink implements PollSink {
  readonly handler: RequestHandler;
  readonly startedAt: number;
  /** What was asked, until it is answered. It holds the token. */
  request: RelayRequest | undefined;
  /** The leg that this exchange became. */
  leg: StreamLeg | PollLeg | undefined;

  constructor(handler: RequestHandler) {
    super();
    this.handler = handler;
    this.startedAt = handler.now();
  }

  abstract readonly method: string;
  /** Path and query. */
  abstract readonly target: string;
  abstract header(name: string): string | undefined;
  /** Reads the body as text, at most `maxBytes`; calls back once, or never if the connection breaks. */
  abstract readBody(maxBytes: number, done: (body: { readonly text: string } | RelayErrorCode) => void): void;
  /** Sends a whole answer, watches the connection until `settle`, and tells the leg when it was `delivered`. */
  abstract sendHeld(answer: Answer, headers: Readonly<Record<string, string>>): void;
  abstract settle(): void;
  abstract outlivesAnswer(): boolean;
  /** Sends a whole answer. */
  abstract send(answer: Answer, headers: Readonly<Record<string, string>>): void;
  /** The exchange became a leg: from now on the binding tells it of `drained` or `delivered`, and of `closed`. */
  abstract watch(leg: StreamLeg | PollLeg): void;

  answer(batch: PollBatch): void {
    this.handler.answerPoll(this, batch);
  }

  refuse(reason: RelayErrorCode): void {
    this.handler.refuse(this, reason);
  }
}
