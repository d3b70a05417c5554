import {
  type Delivery,
  type Frame,
  type Issue,
  limits,
  malformedDelivery,
  type OutboxPollBody,
  type Parsed,
  type PollBody,
  parseJsonText,
  safeParseFrame,
  safeParseFrameText,
  safeParseOutboxPollBody,
  safeParsePollBody,
  utf8Length,
} from "@human-plus/core/protocol";

export type Dialect = "outbox" | "poll";

/** What one answer brought. */
export interface PollBatch {
  readonly deliveries: readonly Delivery[];
  /** Whether there was a frame among it. */
  readonly hasFrames: boolean;
  /** What to continue with. */
  readonly from: string | undefined;
}

/**
 * Reads the answer to a poll. What is no frame is told as such, with the request it answers, and hurts nothing else.
 *
 * @param sent what the poll continued with
 */
export function readPollBatch(dialect: Dialect, body: string, sent: string | undefined): PollBatch {
  if (body.trim() === "") return { deliveries: [], hasFrames: false, from: sent };
  const json = parseJsonText(body, limits.pollAnswerBytes);
  const parsed: Parsed<OutboxPollBody | PollBody> = json.ok
    ? dialect === "poll"
      ? safeParsePollBody(json.value)
      : safeParseOutboxPollBody(json.value)
    : json;
  if (!parsed.ok)
    return { deliveries: [malformedDelivery(body, parsed.issues, undefined)], hasFrames: false, from: sent };
  const { value } = parsed;
  const next = "subscriber" in value ? value.subscriber : "cursor" in value ? value.cursor : undefined;
  const isForgotten = dialect === "poll" && sent !== undefined && next !== undefined && next !== sent;
  const deliveries: Delivery[] = [];
  if (value.gap === true || isForgotten) deliveries.push({ kind: "gap", cursor: undefined });
  for (const frame of value.frames) deliveries.push(frameOf(frame, body.length));
  if (value.unreadable > 0 && json.ok) deliveries.push(...brokenOf(json.value));
  return { deliveries, hasFrames: value.frames.length > 0, from: next ?? sent };
}

/** A frame may come as an object, whose bytes nobody has counted. In a short body none can be too long. */
function frameOf(frame: Frame, bodyLength: number): Delivery {
  if (bodyLength * 3 > limits.frameBytes) {
    const text = JSON.stringify(frame);
    if (utf8Length(text) > limits.frameBytes) return malformedDelivery(text, [TOO_LARGE], undefined);
  }
  return { kind: "frame", frame, cursor: undefined };
}

const TOO_LARGE: Issue = {
  pointer: "",
  rule: "x-max-bytes",
  expected: `at most ${limits.frameBytes} bytes`,
  received: "more",
};

/** The elements that are no frames, wherever a list of them is. Looked for only where the parser left some out. */
function brokenOf(value: unknown): Delivery[] {
  const lists = Array.isArray(value) ? [value] : Object.values(value as object).filter(Array.isArray);
  const broken: Delivery[] = [];
  for (const element of lists.flat().slice(0, limits.pollFrames)) {
    const parsed = typeof element === "string" ? safeParseFrameText(element) : safeParseFrame(element);
    if (parsed.ok) continue;
    const text = typeof element === "string" ? element : (JSON.stringify(element) ?? "");
    broken.push(malformedDelivery(text, parsed.issues, undefined));
  }
  return broken;
}
