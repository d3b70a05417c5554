import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

interface StreamEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** An open event stream, read with plain means. */
export interface TestStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Everything that came, as text. */
  text(): string;
  /** The id last seen, also one that came without an event. */
  cursor(): string | undefined;
  /** The next event; rejects when the stream ended before. */
  next(): Promise<StreamEvent>;
  /** The data of the next event, as JSON. */
  frame(): Promise<unknown>;
  /** Resolves when the stream ended, however that was. */
  ended: Promise<void>;
  /** Resolves when the text holds a part. */
  until(part: string): Promise<void>;
  /** Stops reading from the socket, as a slow reader does. */
  pause(): void;
  close(): void;
}

export async function openStream(url: string, headers: Record<string, string> = {}): Promise<TestStream> {
  const sent: ClientRequest = request(url, { headers, agent: false });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.end();
  });
  sent.on("error", () => undefined);
  answer.on("error", () => undefined);
  answer.setEncoding("utf8");
  let text = "";
  let unread = "";
  let cursor: string | undefined;
  let isEnded = false;
  const events: StreamEvent[] = [];
  let wake: () => void = () => undefined;
  let changed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const notify = () => {
    wake();
    changed = new Promise((resolve) => {
      wake = resolve;
    });
  };
  answer.on("data", (chunk: string) => {
    text += chunk;
    unread += chunk;
    for (let end = unread.indexOf("\n\n"); end >= 0; end = unread.indexOf("\n\n")) {
      const fields = unread.slice(0, end).split("\n").map(splitField);
      unread = unread.slice(end + 2);
      cursor = fields.find(([name]) => name === "id")?.[1] ?? cursor;
      const data = fields.filter(([name]) => name === "data").map(([, value]) => value);
      const event = fields.find(([name]) => name === "event")?.[1] ?? "message";
      if (data.length > 0) events.push({ event, data: data.join("\n"), id: cursor });
    }
    notify();
  });
  const ended = new Promise<void>((resolve) => {
    answer.once("close", () => {
      isEnded = true;
      notify();
      resolve();
    });
  });
  const stream: TestStream = {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: () => text,
    cursor: () => cursor,
    async next() {
      while (events.length === 0) {
        if (isEnded) throw new Error(`the stream ended; it had said:\n${text}`);
        await changed;
      }
      return events.shift() as StreamEvent;
    },
    async frame() {
      const { event, data } = await stream.next();
      if (event !== "mcp") throw new Error(`expected a frame, got ${event}: ${data}`);
      return JSON.parse(data);
    },
    ended,
    async until(part) {
      while (!text.includes(part)) {
        if (isEnded) throw new Error(`the stream ended without ${part}; it had said:\n${text}`);
        await changed;
      }
    },
    pause: () => answer.pause(),
    close: () => sent.destroy(),
  };
  return stream;
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(":");
  return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}
