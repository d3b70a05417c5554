import type { IncomingMessage } from "node:http";
import {
  eventStream,
  type Frame,
  type OutboxPollBody,
  type PollBody,
  type PollOutboxQuery,
  type PollQuery,
  pollOutboxUrl,
  pollUrl,
  safeParseOutboxPollBody,
  safeParsePollBody,
  sendToAgentsUrl,
  sendToSurfaceUrl,
  streamEventsUrl,
  unregisterUrl,
} from "@human-plus/core/protocol";
import { NoAnswerError } from "../check.ts";
import { createEventLeg, type EventLeg } from "../event-leg.ts";
import type { Answer, HttpClient } from "../http-client.ts";
import { isAccepted } from "./answer.ts";

/** What a session needs of whoever speaks to the relay. */
export interface SessionHost {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly http: HttpClient;
  post(url: string, body?: string): Promise<Answer>;
  get(url: string): Promise<Answer>;
  answerToText(answer: Answer): string;
}

/** A session of the checks: they are its surface, and its agents. */
export class TestSession {
  readonly id: string;
  readonly token: string;
  readonly #host: SessionHost;
  readonly #legs: Set<EventLeg> = new Set();

  constructor(host: SessionHost, id: string, token: string) {
    this.#host = host;
    this.id = id;
    this.token = token;
  }

  /** Posts a frame of an agent; `client` names it. */
  toSurface(frame: Frame | string, client: string | undefined, token: string = this.token): Promise<Answer> {
    return this.#host.post(this.inboxUrl(client, token), textOf(frame));
  }

  /** @param token `null` for none in the query */
  inboxUrl(client: string | undefined, token: string | null = this.token): string {
    return sendToSurfaceUrl(this.#host.baseUrl, this.id, { token: token ?? undefined, client });
  }

  /** Posts a frame of the surface. */
  toAgents(frame: Frame | string, token: string = this.token): Promise<Answer> {
    return this.#host.post(sendToAgentsUrl(this.#host.baseUrl, this.id, { token }), textOf(frame));
  }

  /** Posts a frame that has to be accepted for the check to go on. */
  async say(to: "surface" | "agents", frame: Frame, client?: string): Promise<void> {
    const answer = await (to === "surface" ? this.toSurface(frame, client) : this.toAgents(frame));
    if (!isAccepted(answer))
      throw new NoAnswerError(this.#host.answerToText(answer), { expected: `a frame for the ${to} is accepted` });
  }

  unregister(client?: string, token: string = this.token): Promise<Answer> {
    return this.#host.post(unregisterUrl(this.#host.baseUrl, this.id, { token, client }));
  }

  streamUrl(query: { client?: string; direction?: "inbound" | "outbound"; token?: string }): string {
    return streamEventsUrl(this.#host.baseUrl, this.id, { token: this.token, ...query });
  }

  /** Opens a stream and gives the head of whatever answers. */
  openStream(url: string, cursor?: string): Promise<IncomingMessage> {
    const headers = cursor === undefined ? undefined : { [eventStream.cursorHeader]: cursor };
    return this.#host.http.open({ method: "GET", url, headers });
  }

  /** A receiving leg: an agent's by its client, the surface's without one. */
  async leg(client?: string, cursor?: string): Promise<EventLeg> {
    const direction = client === undefined ? ("inbound" as const) : ("outbound" as const);
    return this.legOf(this.streamUrl({ ...(client === undefined ? {} : { client }), direction }), cursor);
  }

  async legOf(url: string, cursor?: string): Promise<EventLeg> {
    const answer = await this.openStream(url, cursor);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new NoAnswerError(`status ${answer.statusCode}`, { expected: "an event stream" });
    }
    const leg = createEventLeg(answer, this.#host);
    this.#legs.add(leg);
    return leg;
  }

  pollOutbox(query: PollOutboxQuery): Promise<Answer> {
    const url = pollOutboxUrl(this.#host.baseUrl, this.id, { token: this.token, direction: "outbound", ...query });
    return this.#host.get(url);
  }

  poll(query: PollQuery): Promise<Answer> {
    const url = pollUrl(this.#host.baseUrl, this.id, { token: this.token, direction: "outbound", ...query });
    return this.#host.get(url);
  }

  close(): void {
    for (const leg of this.#legs) leg.close();
  }
}

/** Reads the answer to a poll of dialect "outbox". @throws NoAnswerError if it is none */
export function readOutboxPoll({ status, body }: Answer): OutboxPollBody {
  if (status === 204 || (status === 200 && body.trim() === "")) return { frames: [], unreadable: 0 };
  const parsed = safeParseOutboxPollBody(jsonOf(body));
  if (status === 200 && parsed.ok && parsed.value.unreadable === 0) return parsed.value;
  throw new NoAnswerError(`${status} with ${body.length} characters`, {
    expected: "frames in one of the shapes of a poll",
  });
}

/** Reads the answer to a poll of dialect "poll". @throws NoAnswerError if it is none */
export function readPoll({ status, body }: Answer): PollBody {
  const parsed = safeParsePollBody(jsonOf(body));
  if (status === 200 && parsed.ok && parsed.value.unreadable === 0) return parsed.value;
  throw new NoAnswerError(`${status} with ${body.length} characters`, { expected: "{subscriber, frames}" });
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function textOf(frame: Frame | string): string {
  return typeof frame === "string" ? frame : JSON.stringify(frame);
}
