import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";

/** One stream that our code made in a test, as it came out. */
export interface Recording {
  /** What was asked for. */
  readonly input: AgUiRunInput;
  readonly contentType: string;
  readonly chunks: Uint8Array[];
  /** `left`: its reader went away; `broken`: it failed. */
  state: "open" | "ended" | "left" | "broken";
  /** Reads what nobody has read, to its end. */
  readonly readRest?: (() => Promise<void>) | undefined;
}

/** A rule that streams of one test may break, and why. */
export interface Exemption {
  readonly fault: RegExp;
  readonly reason: string;
}

/** Of the test that runs. */
const recordings: Recording[] = [];
const exemptions: Exemption[] = [];
let cut: string | undefined;

/** Hears of a stream that is over. */
let hear: (recording: Recording) => void = () => undefined;

export function listen(listener: typeof hear): void {
  hear = listener;
}

export function record(recording: Recording): Recording {
  recordings.push(recording);
  return recording;
}

export function end(recording: Recording, state: Exclude<Recording["state"], "open">): void {
  if (recording.state !== "open") return;
  recording.state = state;
  hear(recording);
}

/**
 * Streams of this test may have no end: a client of theirs goes away, or reads no further. They are judged as far as they were
 * read. A test in which none is cut off may not say so.
 */
export function cutOff(reason: string): void {
  assertReason(reason);
  cut = reason;
}

/** Streams of this test break a rule. A test in which none does may not say so. */
export function exempt(fault: RegExp, reason: string): void {
  assertReason(reason);
  exemptions.push({ fault, reason });
}

function assertReason(reason: string): void {
  if (reason.trim() === "") throw new Error("reason should say why");
}

/** All that was recorded and said since the last time. */
export function takeRecordings() {
  const taken = { recordings: recordings.splice(0), exemptions: exemptions.splice(0), cut };
  cut = undefined;
  return taken;
}
