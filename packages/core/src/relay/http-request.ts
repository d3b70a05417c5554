import type { Dispatcher } from "undici";

/** What carries requests, and can be closed. */
export type RequestCarrier = Pick<Dispatcher, "dispatch" | "destroy">;

/** One request to a relay. It holds the token: show it to nobody. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
}

/** The head of an answer, as far as anybody looks at it. */
export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The body is not as it was written, and is not looked at. */
  readonly isEncoded: boolean;
}

export interface AnswerListener {
  /** The connection stands, and bytes may leave from now on. */
  onStart?(): void;
  onHead(head: AnswerHead): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** It broke: before `onStart` nothing has left, and after it anything may have. */
  onBreak(error: unknown): void;
}

/** A request under way. */
export interface RunningRequest {
  /** Ends it, without a word to the listener. */
  abort(): void;
  pause(): void;
  resume(): void;
}

export interface Timeouts {
  /** From the request to the head of the answer, in milliseconds; 0 is no limit. */
  headersTimeout: number;
  /** Between two pieces of the body, in milliseconds; 0 is no limit. */
  bodyTimeout: number;
}

/** Starts a request, once: a dispatcher repeats none that has started, and follows no redirect. */
export function startRequest(
  dispatcher: RequestCarrier,
  { method, origin, path, headers, body }: HttpRequest,
  timeouts: Timeouts,
  listener: AnswerListener,
): RunningRequest {
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      // Aborted while it waited for a connection: nothing has left, and nothing will.
      if (isOver) return started.abort(new Error("aborted"));
      controller = started;
      listener.onStart?.();
    },
    onResponseStart(_, status, answered) {
      if (isOver || status < 200) return;
      const encoding = text(answered["content-encoding"]);
      listener.onHead({
        status,
        contentType: text(answered["content-type"]) ?? "",
        retryAfter: text(answered["retry-after"]),
        isEncoded: encoding !== undefined && encoding.trim().toLowerCase() !== "identity",
      });
    },
    onResponseData(_, chunk) {
      if (!isOver) listener.onData(chunk as Buffer);
    },
    onResponseEnd() {
      if (isOver) return;
      isOver = true;
      listener.onEnd();
    },
    onResponseError(_, error) {
      if (isOver) return;
      isOver = true;
      listener.onBreak(error);
    },
  };
  try {
    dispatcher.dispatch(
      { method, origin, path, headers: headers as string[], body: body ?? null, ...timeouts },
      handler,
    );
  } catch (error) {
    queueMicrotask(() => handler.onResponseError?.(undefined as never, error as Error));
  }
  return {
    abort() {
      if (isOver) return;
      isOver = true;
      controller?.abort(new Error("aborted"));
    },
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
  };
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
