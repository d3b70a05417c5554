import { type RelayErrorCode, relayErrorStatus } from "@human-plus/core/protocol";
import type { PollBatch } from "../broker/sinks.ts";
import { encodeStreamError, streamHeaders } from "./event-stream-text.ts";

/** An answer with a whole body. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers carry what one session said, and refusals tell of tokens: nobody on the way may keep them. */
const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
} as const;

/** Seconds after which a busy relay is worth asking again. */
const RETRY_AFTER = "1";

export const acceptedAnswer: Answer = { status: 200, headers: jsonHeaders, body: JSON.stringify({ ok: true }) };

const refusals = new Map(
  (Object.keys(relayErrorStatus) as RelayErrorCode[]).map((code) => [code, refusal(code)] as const),
);

/** The answer that refuses with a code. */
export function refusalAnswer(code: RelayErrorCode): Answer {
  return refusals.get(code) ?? refusal(code);
}

/** A refused event stream says why in the stream's own words, if it is refused for good. */
export function streamRefusalAnswer(code: RelayErrorCode): Answer {
  const status = relayErrorStatus[code];
  if (status !== 401 && status !== 410) return refusalAnswer(code);
  return { status, headers: { ...streamHeaders, "referrer-policy": "no-referrer" }, body: encodeStreamError(code) };
}

export function healthAnswer(isDraining: boolean): Answer {
  return isDraining ? refusalAnswer("shutting_down") : acceptedAnswer;
}

/** Dialect "outbox": the frames as they are, and where to go on. */
export function outboxPollAnswer({ frames, cursor, hasGap }: PollBatch): Answer {
  const gap = hasGap ? ',"gap":true' : "";
  return json(`{"frames":[${frames.join(",")}],"cursor":${JSON.stringify(cursor)}${gap}}`);
}

/** Dialect "poll": the frames as JSON text, and who polls. */
export function pollAnswer({ frames, subscriber, hasGap }: PollBatch): Answer {
  return json(JSON.stringify({ subscriber, frames, ...(hasGap ? { gap: true } : {}) }));
}

function json(body: string): Answer {
  return { status: 200, headers: jsonHeaders, body };
}

function refusal(code: RelayErrorCode): Answer {
  const status = relayErrorStatus[code];
  const isBusy = status === 429 || status === 503;
  const headers = isBusy ? { ...jsonHeaders, "retry-after": RETRY_AFTER } : jsonHeaders;
  return { status, headers, body: JSON.stringify({ error: code }) };
}
