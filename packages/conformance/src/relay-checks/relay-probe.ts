import { registerUrl, unregisterUrl } from "@human-plus/core/protocol";
import { NoAnswerError, UnreachableError } from "../check.ts";
import { type Answer, type Asking, createHttpClient, type HttpClient } from "../http-client.ts";
import { doesNotHold, holds, type Outcome } from "../outcome.ts";
import type { Quoter } from "../quote.ts";
import { codeOf, isAccepted } from "./answer.ts";
import { type SessionHost, TestSession } from "./test-session.ts";

export interface RelayProbeOptions {
  baseUrl: string;
  local: boolean;
  timeoutMs: number;
  quoter: Quoter;
  /** An origin whose browsers should be able to use the relay. */
  origin: string | undefined;
  /** Told of every token that the checks choose, so that none is shown. */
  onToken: (token: string) => void;
}

/** Speaks to one relay, in sessions of its own. */
export class RelayProbe implements SessionHost {
  readonly baseUrl: string;
  readonly local: boolean;
  readonly timeoutMs: number;
  readonly quoter: Quoter;
  readonly origin: string | undefined;
  readonly http: HttpClient;
  readonly #onToken: (token: string) => void;

  constructor({ baseUrl, local, timeoutMs, quoter, origin, onToken }: RelayProbeOptions) {
    this.baseUrl = baseUrl;
    this.local = local;
    this.timeoutMs = timeoutMs;
    this.quoter = quoter;
    this.origin = origin;
    this.#onToken = onToken;
    this.http = createHttpClient({ timeoutMs });
  }

  /** An id and a token that nobody else has. */
  credentials(): { readonly id: string; readonly token: string } {
    const token = `conformance-${crypto.randomUUID()}`;
    this.#onToken(token);
    return { id: `conformance-${crypto.randomUUID()}`, token };
  }

  register(id: string, token: string): Promise<Answer> {
    return this.post(registerUrl(this.baseUrl), JSON.stringify({ session: id, token }));
  }

  post(url: string, body?: string, headers?: Asking["headers"]): Promise<Answer> {
    return this.http.ask({ method: "POST", url, body, headers });
  }

  get(url: string, headers?: Asking["headers"]): Promise<Answer> {
    return this.http.ask({ method: "GET", url, headers });
  }

  /** Runs a check in a session that exists for it alone, and ends it. */
  async inSession(run: (session: TestSession) => Promise<Outcome>): Promise<Outcome> {
    const { id, token } = this.credentials();
    const answer = await this.register(id, token);
    if (!isAccepted(answer))
      throw new NoAnswerError(`register was answered with ${this.answerToText(answer)}`, { expected: "a session" });
    const session = new TestSession(this, id, token);
    try {
      return await run(session);
    } finally {
      session.close();
      await this.post(unregisterUrl(this.baseUrl, id, { token })).catch(() => undefined);
    }
  }

  /** @throws UnreachableError if nothing answers there */
  async assertReachable(): Promise<void> {
    try {
      await this.get(registerUrl(this.baseUrl));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UnreachableError(`nothing answers at ${this.baseUrl}: ${why}`, { cause: error });
    }
  }

  answerToText({ status, body }: Pick<Answer, "status" | "body">): string {
    return `${status} ${this.quoter.quote(body)}`;
  }

  /** Judges a refusal by its status, and by its code where one is expected. */
  refusal(answer: Answer, status: number, code?: string): Outcome {
    const isRight = answer.status === status && (code === undefined || codeOf(answer) === code);
    if (isRight) return holds();
    return doesNotHold(code === undefined ? `${status}` : `${status} ${code}`, this.answerToText(answer));
  }

  close(): void {
    this.http.close();
  }
}
