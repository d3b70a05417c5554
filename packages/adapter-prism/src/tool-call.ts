import { type CallOptions, HumanPlusError, type JsonObject } from "@human-plus/core";

export interface ToolCallOptions extends Pick<CallOptions, "onProgress" | "reading"> {
  signal?: AbortSignal | undefined;
}

/** What a tool gave, for either host to put into its own shape. */
export interface Answer {
  /** What a model reads. Words of a surface in it are framed. */
  readonly text: string;
  /** What a reader should know about it, in the SDK's own words. */
  readonly notices: readonly string[];
  /** A staged write: a person decides, and nobody waits. */
  readonly isProposal: boolean;
  /** For the program, not for the model: markers and the outcome. Plain JSON. */
  readonly facts: JsonObject;
}

/** How long core has to end an aborted call by itself, and to say better than anybody else what became of it. */
const GRACE_MS = 50;

/** Ends with the work, or shortly after an abort, whatever a transport or a store makes of that. */
export async function endOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      reject(new HumanPlusError("aborted", "the call was aborted, and what became of it is not known"));
    }, GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
