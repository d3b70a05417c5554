import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";

type Event = Readonly<Record<string, unknown>>;

/** Kinds of items that begin and end, by the events that do so. The step is keyed by its name. */
const spans = [
  {
    what: "text message",
    key: "messageId",
    start: "TEXT_MESSAGE_START",
    inside: ["TEXT_MESSAGE_CONTENT"],
    end: "TEXT_MESSAGE_END",
  },
  { what: "tool call", key: "toolCallId", start: "TOOL_CALL_START", inside: ["TOOL_CALL_ARGS"], end: "TOOL_CALL_END" },
  { what: "step", key: "stepName", start: "STEP_STARTED", inside: [], end: "STEP_FINISHED" },
  { what: "reasoning", key: "messageId", start: "REASONING_START", inside: [], end: "REASONING_END" },
  {
    what: "reasoning message",
    key: "messageId",
    start: "REASONING_MESSAGE_START",
    inside: ["REASONING_MESSAGE_CONTENT"],
    end: "REASONING_MESSAGE_END",
  },
] as const;

/** Members that may hold any JSON, null included. */
const anyJson: ReadonlySet<string> = new Set(["value", "snapshot", "event", "rawEvent", "content", "patch", "delta"]);

const standing = [
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "MESSAGES_SNAPSHOT",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "RAW",
  "CUSTOM",
];
const others = ["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "TOOL_CALL_RESULT", "REASONING_ENCRYPTED_VALUE"];
const known: ReadonlySet<string> = new Set([
  ...standing,
  ...others,
  ...spans.flatMap(({ start, inside, end }) => [start, ...inside, end]),
]);

export interface StreamRulesOptions {
  /** `false` for what was read of a stream before its reader went away. @default true */
  readonly isWhole?: boolean | undefined;
}

/** What the clients do not check, or not all of them, of one run's events. Each reason names the event that breaks the rule. */
export function streamFaults(
  events: readonly unknown[],
  input: AgUiRunInput,
  { isWhole = true }: StreamRulesOptions = {},
): string[] {
  const faults: string[] = [];
  const isEvent = (event: unknown): event is Event => typeof event === "object" && event !== null && "type" in event;
  events.forEach((event, index) => {
    if (!isEvent(event)) faults.push(`event ${index} is no event: ${JSON.stringify(event)}`);
  });
  const run = events.filter(isEvent);
  const say = (index: number, what: string) =>
    void faults.push(`event ${index} ${String(run[index]?.["type"])}: ${what}`);
  checkEnvelope(run, input, { isWhole, faults, say });
  checkSpans(run, { isWhole, faults, say });
  checkToolCalls(run, input, say);
  checkActivities(run, say);
  return faults;
}

type Say = (index: number, what: string) => void;

interface Check {
  readonly isWhole: boolean;
  readonly faults: string[];
  readonly say: Say;
}

function checkEnvelope(run: readonly Event[], input: AgUiRunInput, { isWhole, faults, say }: Check): void {
  if (run[0]?.["type"] !== "RUN_STARTED" && (isWhole || run.length > 0))
    faults.push("the first event is not RUN_STARTED");
  const terminals = run.filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
  if (terminals.length > 1 || (isWhole && terminals.length === 0))
    faults.push(`there are ${terminals.length} terminal events, not one`);
  else if (terminals.length === 1 && run.at(-1) !== terminals[0]) faults.push("something follows the terminal event");
  const peer = input.protocolVersion !== undefined;
  run.forEach((event, index) => {
    const { type, timestamp } = event;
    if (!known.has(String(type))) say(index, "is not in the subset that all clients take");
    if (index > 0 && type === "RUN_STARTED") say(index, "the run had begun already");
    if (type === "RUN_STARTED" || type === "RUN_FINISHED") {
      if (event["threadId"] !== input.threadId)
        say(index, `threadId should be ${input.threadId}, is ${event["threadId"]}`);
      if (event["runId"] !== input.runId) say(index, `runId should be ${input.runId}, is ${event["runId"]}`);
    }
    if (timestamp !== undefined && !Number.isSafeInteger(timestamp)) say(index, "timestamp is no whole number");
    for (const name of nullMembers(event)) say(index, `${name} is null: leave it out`);
    const outcome = event["outcome"] as { type?: unknown; interrupts?: readonly { id?: unknown }[] } | undefined;
    if (outcome?.type === "cancelled" && !peer)
      say(index, "only peers that say protocolVersion know the outcome cancelled");
    if (outcome !== undefined && "pendingToolCallIds" in outcome && !peer)
      say(index, "only peers that say protocolVersion know pendingToolCallIds");
    const ids = outcome?.interrupts?.map(({ id }) => id) ?? [];
    if (new Set(ids).size !== ids.length) say(index, "two interrupts have the same id");
    if (type === "CUSTOM" && !String(event["name"]).includes(".")) say(index, "the name has no prefix of its vendor");
  });
}

function nullMembers(value: Event, path = ""): string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    if (member === null) return anyJson.has(key) || (key === "result" && path !== "") ? [] : [`${path}${key}`];
    if (anyJson.has(key) || typeof member !== "object") return [];
    return nullMembers(member as Event, `${path}${key}.`);
  });
}

function checkSpans(run: readonly Event[], { isWhole, faults, say }: Check): void {
  for (const { what, key, start, inside, end } of spans) {
    const open = new Set<unknown>();
    run.forEach((event, index) => {
      const id = event[key];
      const type = String(event["type"]);
      if (type === start) {
        if (open.has(id)) say(index, `the ${what} ${id} is open already`);
        open.add(id);
      } else if (type === end || (inside as readonly string[]).includes(type)) {
        if (!open.has(id)) say(index, `the ${what} ${id} is not open`);
        if (type === end) open.delete(id);
      }
    });
    for (const id of isWhole ? open : []) faults.push(`the ${what} ${id} is still open at the end`);
  }
}

function checkToolCalls(run: readonly Event[], input: AgUiRunInput, say: Say): void {
  const calls = new Map<unknown, string>();
  const answered = new Set<unknown>();
  const messages = new Set<unknown>(input.messages.map(({ id }) => id));
  const old = new Set(
    input.messages
      .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
      .map(({ id }) => id),
  );
  run.forEach((event, index) => {
    const id = event["toolCallId"];
    switch (event["type"]) {
      case "TOOL_CALL_START":
        if (calls.has(id) || old.has(String(id))) say(index, `there was a tool call ${id} already`);
        calls.set(id, "");
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(event["toolCallName"])))
          say(index, "the name is none that every model takes");
        break;
      case "TOOL_CALL_ARGS":
        calls.set(id, (calls.get(id) ?? "") + String(event["delta"]));
        break;
      case "TOOL_CALL_END":
        if (!isJsonObject(calls.get(id) ?? ""))
          say(index, `the arguments of ${id} are no JSON object: ${calls.get(id)}`);
        break;
      case "TOOL_CALL_RESULT":
        if (!calls.has(id) && !old.has(String(id))) say(index, `there is no tool call ${id}`);
        if (answered.has(id)) say(index, `the tool call ${id} was answered already`);
        if (typeof event["content"] !== "string") say(index, "the content is no text");
        if (messages.has(event["messageId"])) say(index, `there is a message ${event["messageId"]} already`);
        messages.add(event["messageId"]);
        answered.add(id);
        break;
      case "TEXT_MESSAGE_START":
        messages.add(event["messageId"]);
        break;
    }
  });
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function checkActivities(run: readonly Event[], say: Say): void {
  const begun = new Map<unknown, unknown>();
  const texts = new Set(run.filter(({ type }) => type === "TEXT_MESSAGE_START").map((event) => event["messageId"]));
  run.forEach((event, index) => {
    const { type, messageId, activityType } = event;
    if (type !== "ACTIVITY_SNAPSHOT" && type !== "ACTIVITY_DELTA") return;
    if (texts.has(messageId)) say(index, `${messageId} is a text message as well`);
    if (type === "ACTIVITY_SNAPSHOT") begun.set(messageId, activityType);
    else if (!begun.has(messageId)) say(index, `there was no snapshot of ${messageId} in this stream`);
    else if (begun.get(messageId) !== activityType) say(index, `${messageId} is of another activity type`);
  });
}
