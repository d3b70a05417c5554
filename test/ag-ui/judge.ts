import type { AgUiInterrupt, AgUiRunInput } from "@human-plus/adapter-ag-ui";
import { type ClientOutcome, type ClientVersion, clients, compactionFault, runClient } from "./parts/clients.ts";
import { type RunningServer, serve, serveHandler, type WebHandler } from "./parts/serve.ts";
import { readSseBody } from "./parts/sse-frames.ts";
import { streamFaults } from "./parts/stream-rules.ts";
import { noteJudged } from "./taps/judged.ts";

/** Where the stream comes from. A URL and a handler run once for each client; events and bytes are the same for all. */
export type Judged =
  | { readonly events: readonly unknown[] }
  | {
      readonly bytes: string | Uint8Array;
      /** @default 200 */
      readonly status?: number;
      /** @default text/event-stream */
      readonly contentType?: string;
    }
  | { readonly url: string }
  | { readonly handler: WebHandler };

export interface JudgeOptions {
  /** What the clients send, and what the stream has to fit. @default a thread `t`, a run `r` and one message of a user */
  input?: Partial<AgUiRunInput> | undefined;
  /** @default all three */
  versions?: readonly ClientVersion[] | undefined;
  headers?: Record<string, string> | undefined;
  /** Interrupts of the run before, which the client still has open. */
  pendingInterrupts?: readonly AgUiInterrupt[] | undefined;
  /** Gives each client its own input, for runs that must not be repeated under the same ids. */
  inputOf?: ((version: ClientVersion) => Partial<AgUiRunInput>) | undefined;
}

export interface Verdict {
  /** Everything that is wrong, in words. Empty is a good stream. */
  readonly reasons: readonly string[];
  readonly clients: readonly ClientOutcome[];
  /** The body that the first client got. */
  readonly body: string;
  /** The events in it. */
  readonly events: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

/**
 * Runs a stream through the real `HttpAgent` of every version, over a real socket, and through the rules that those do not
 * check. What a client writes to the console counts against the stream.
 */
export async function judge(judged: Judged, options: JudgeOptions = {}): Promise<Verdict> {
  const { versions = [...clients.keys()], inputOf = () => ({}), headers, pendingInterrupts } = options;
  await using server = await serverOf(judged);
  const url = "url" in judged ? judged.url : (server as RunningServer).url;
  const reasons: string[] = [];
  const outcomes: ClientOutcome[] = [];
  const seen = new Map<string, ReturnType<typeof readSseBody>>();
  let body: string | undefined;
  for (const version of versions) {
    const input = completeInput({ ...options.input, ...inputOf(version) });
    const wire = createRecorder(input);
    const outcome = await runClient({ version, url, input, headers, pendingInterrupts, fetch: wire.fetch });
    outcomes.push(outcome);
    const before = reasons.length;
    if (outcome.rejection !== undefined) reasons.push(`${version} rejects: ${outcome.rejection}`);
    for (const line of outcome.warnings) reasons.push(`${version} warns: ${line}`);
    const text = wire.text();
    body ??= text;
    const read = readSseBody(text);
    const said = [...wire.faults, ...read.faults, ...streamFaults(read.events, { ...input, ...wire.sent() })];
    const compaction = read.faults.length > 0 ? undefined : compactionFault(version, read.events);
    if (compaction !== undefined) said.push(`${version} cannot compact it: ${compaction}`);
    for (const reason of said) if (!reasons.includes(reason)) reasons.push(reason);
    seen.set(version, read);
    if (reasons.length === before) noteJudged({ version, body: text, input });
  }
  const [first] = seen.values();
  return { reasons, clients: outcomes, body: body ?? "", events: (first?.events ?? []) as Verdict["events"] };
}

/** Throws with all reasons unless the stream is good. @returns the verdict */
export async function assertGood(judged: Judged, options: JudgeOptions = {}): Promise<Verdict> {
  const verdict = await judge(judged, options);
  if (verdict.reasons.length === 0) return verdict;
  throw new Error(`the stream is refused:\n- ${verdict.reasons.join("\n- ")}\n\n${verdict.body.slice(0, 8_000)}`);
}

/** Events as a producer frames them. */
export function toSse(events: readonly unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

export function completeInput(input: Partial<AgUiRunInput> = {}): AgUiRunInput {
  return { threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "Tidy up" }], ...input };
}

async function serverOf(judged: Judged): Promise<RunningServer | undefined> {
  if ("url" in judged) return undefined;
  if ("handler" in judged) return serveHandler(judged.handler);
  const {
    bytes,
    status = 200,
    contentType = "text/event-stream",
  } = "events" in judged ? { bytes: toSse(judged.events) } : judged;
  return serve((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": contentType }).end(bytes);
  });
}

/** A fetch that keeps what came. A connection that breaks is noted, and ended cleanly towards the client, whose reader would end this process. */
function createRecorder({ parentRunId }: AgUiRunInput) {
  const faults: string[] = [];
  const chunks: Uint8Array[] = [];
  let sent: Partial<AgUiRunInput> = {};
  return {
    faults,
    text: () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks)),
    /** As far as it is the client that decides. */
    sent: () => sent,
    fetch: (async (url: string, init: RequestInit) => {
      const asked = JSON.parse(String(init.body)) as AgUiRunInput;
      sent = { protocolVersion: asked.protocolVersion };
      // No client has a parameter for it.
      const body = parentRunId === undefined ? init.body : JSON.stringify({ ...asked, parentRunId });
      const response = await fetch(url, { ...init, body: body ?? null });
      const type = response.headers.get("content-type") ?? "";
      if (response.status !== 200) faults.push(`the answer is ${response.status}`);
      if (!/^text\/event-stream\b/.test(type))
        faults.push(`the answer is ${type || "of no type"}, not text/event-stream`);
      const reader = response.body?.getReader();
      if (reader === undefined) return response;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await reader.read().catch((error: Error) => {
            faults.push(`the connection broke: ${error.message}`);
            return { done: true, value: undefined };
          });
          if (done || value === undefined) return controller.close();
          chunks.push(value);
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      });
      return new Response(stream, { status: response.status, headers: response.headers });
    }) as typeof fetch,
  };
}
