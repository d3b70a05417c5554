import type { AgUiMessage, AgUiRunInput } from "@human-plus/adapter-ag-ui";
import { type ClientVersion, clients, compactionFault, runClient } from "../parts/clients.ts";
import { readSseBody } from "../parts/sse-frames.ts";
import { streamFaults } from "../parts/stream-rules.ts";
import { isJudged, noteJudged } from "./judged.ts";
import type { Exemption, Recording } from "./recordings.ts";

const PROTOBUF = "application/vnd.ag-ui.event+proto";

/** How long a stream that nobody read to its end may still go on, in milliseconds. */
const MAX_REST_MS = 5_000;

export interface Recorded {
  readonly recordings: readonly Recording[];
  readonly exemptions: readonly Exemption[];
  /** Why streams may have no end. */
  readonly cut: string | undefined;
}

/**
 * Has streams judged that were recorded: by the real `HttpAgent` of every version, each of which gets what was sent, and by the
 * rules that those do not check.
 *
 * @returns what is wrong, and what was exempted in vain
 */
export async function judgeRecordings({ recordings, exemptions, cut }: Recorded): Promise<string[]> {
  const faults: string[] = [];
  const used = new Set<Exemption>();
  let isCut = false;
  for (const recording of recordings) {
    if (recording.state === "open" && cut === undefined) await readRest(recording);
    if (recording.state !== "ended") isCut = true;
    const isWhole = recording.state === "ended" || cut === undefined;
    const said =
      recording.contentType === PROTOBUF ? await judgeBinary(recording) : await judgeText(recording, isWhole);
    const counted = said.filter((fault) => {
      const exemption = exemptions.find((each) => each.fault.test(fault));
      if (exemption !== undefined) used.add(exemption);
      return exemption === undefined;
    });
    if (counted.length > 0) faults.push(`${counted.join("\n- ")}\n\n${textOf(recording).slice(0, 4_000)}`);
  }
  for (const exemption of exemptions)
    if (!used.has(exemption)) faults.push(`no stream of this test is at fault with ${exemption.fault}`);
  if (cut !== undefined && !isCut) faults.push("no stream of this test was cut off");
  return faults;
}

async function readRest(recording: Recording): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_REST_MS);
  });
  await Promise.race([recording.readRest?.().catch(() => undefined), late]);
  clearTimeout(timer);
}

async function judgeText(recording: Recording, isWhole: boolean): Promise<string[]> {
  const faults = isWhole && recording.state !== "ended" ? [noEnd(recording)] : [];
  const all = textOf(recording);
  // A reader that goes away may have got a half of a frame.
  const text = isWhole ? all : all.slice(0, all.lastIndexOf("\n\n") + 2);
  const input = inputOf(recording);
  const { events, faults: framing } = readSseBody(text);
  faults.push(...framing, ...streamFaults(events, input, { isWhole }));
  for (const version of versionsFor(events, input)) {
    const key = { version, body: text, input };
    if (isJudged(key)) continue;
    const said = await replay(recording, version, isWhole ? recording.chunks : [Buffer.from(text)]);
    const compaction = framing.length > 0 ? undefined : compactionFault(version, events);
    if (compaction !== undefined) said.push(`${version} cannot compact it: ${compaction}`);
    if (said.length === 0) noteJudged(key);
    faults.push(...said);
  }
  return faults;
}

function noEnd({ state }: Recording): string {
  return `the stream has no end, it is ${state}: a test that means it so says cutOff("why")`;
}

/** Clients before 1.0.0 cannot read most events of this encoding, and do not get it. */
async function judgeBinary(recording: Recording): Promise<string[]> {
  const seen: unknown[] = [];
  const faults = await replay(recording, "1.0.0", recording.chunks, seen);
  if (recording.state !== "ended") faults.push(noEnd(recording));
  return [...faults, ...streamFaults(seen, inputOf(recording))];
}

/** What only peers know that say their version is an error to others. */
function versionsFor(events: readonly unknown[], { protocolVersion }: AgUiRunInput): readonly ClientVersion[] {
  const outcomes = events.map((event) => (event as { outcome?: { type?: unknown } } | null)?.outcome);
  const isNew = outcomes.some(
    (each) => each !== undefined && (each.type === "cancelled" || "pendingToolCallIds" in each),
  );
  return isNew && protocolVersion !== undefined ? ["1.0.0"] : [...clients.keys()];
}

/** Gives a client what was sent to another. */
async function replay(
  { input, contentType }: Recording,
  version: ClientVersion,
  chunks: readonly Uint8Array[],
  seen: unknown[] = [],
): Promise<string[]> {
  let wasAsked = false;
  const fetch = (async () => {
    wasAsked = true;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": contentType } });
  }) as typeof globalThis.fetch;
  const run = (given: AgUiRunInput) =>
    runClient({
      version,
      url: "http://agent.example/",
      input: given,
      fetch,
      onEvent: (event) => void seen.push(event),
    });
  const whole = inputOf({ input });
  let outcome = await run(whole);
  // What was asked may be nothing that this client would ask.
  if (!wasAsked) outcome = await run({ threadId: whole.threadId, runId: whole.runId, messages: [] });
  const { rejection, warnings } = outcome;
  return [
    ...(rejection === undefined ? [] : [`${version} rejects: ${rejection}`]),
    // Of what was asked, the stream is not to blame.
    ...warnings.filter((line) => !line.includes("from the outgoing input")).map((line) => `${version} warns: ${line}`),
  ];
}

/** As a client has it that said the same: what is absent may be `null` on the wire. */
function inputOf({ input }: Pick<Recording, "input">): AgUiRunInput {
  const present = Object.entries(input).filter(([, value]) => value !== null);
  const messages: unknown = input.messages;
  const isMessage = (message: unknown): message is AgUiMessage => typeof message === "object" && message !== null;
  return {
    ...(Object.fromEntries(present) as unknown as AgUiRunInput),
    messages: Array.isArray(messages) ? messages.filter(isMessage) : [],
  };
}

function textOf({ chunks }: Recording): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks));
}
