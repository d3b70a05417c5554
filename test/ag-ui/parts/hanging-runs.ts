/** A run that was told to stop, if it was. */
export interface ObservedRun {
  /** Resolves with the reason once the signal of the run has aborted. */
  readonly aborted: Promise<unknown>;
  /** Resolves once the run is driven. */
  readonly begun: Promise<void>;
  /** What the option `run` takes. */
  readonly run: (context: { readonly signal: AbortSignal }) => AsyncIterable<object>;
  /** How often it was asked to begin. */
  readonly count: () => number;
  /** Resolves once it is asked for no more: its reader has stopped, and what is on the way is full. */
  readonly stuck: () => Promise<void>;
}

/** A run that says one thing, and then never again: it hears of nothing, and does not stop. */
export function createDeafRun(): ObservedRun {
  return createRun(async function* () {
    yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hello" };
    await forever();
  });
}

/** A run that talks, so many bytes at a time, until it is aborted. */
export function createTalkingRun({ bytes = 100, pauseMs = 2 } = {}): ObservedRun {
  const delta = "x".repeat(bytes);
  return createRun(async function* (signal, onAsked) {
    while (!signal.aborted) {
      onAsked();
      yield { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta };
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    throw signal.reason;
  });
}

function createRun(script: (signal: AbortSignal, onAsked: () => void) => AsyncGenerator<object>): ObservedRun {
  const aborted = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  let count = 0;
  let asked = 0;
  return {
    aborted: aborted.promise,
    begun: begun.promise,
    count: () => count,
    async stuck() {
      for (let before = -1; before !== asked; ) {
        before = asked;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    run({ signal }) {
      count++;
      signal.addEventListener("abort", () => aborted.resolve(signal.reason), { once: true });
      begun.resolve();
      return script(signal, () => void asked++);
    },
  };
}

/** What some promises of a host do. */
export function forever(): Promise<never> {
  return new Promise(() => undefined);
}
