import {
  type Delivery,
  eventStream,
  frameDelivery,
  HumanPlusError,
  type Issue,
  limits,
  malformedDelivery,
  type Receiver,
  type RelayErrorCode,
  readRelayRefusal,
  relayErrorStatus,
} from "@human-plus/core/protocol";
import type { ByteStream, RelayEndpoint } from "@human-plus/core/relay";
import { createEventParser, type StreamEvent } from "./event-parser.ts";

/** Receives frames over an event stream. PROTOCOL.md section 2.2. */
export function createSseReceiver(endpoint: Pick<RelayEndpoint, "openEvents">): Receiver {
  return {
    async open(link, options) {
      const stream = await endpoint.openEvents(link, options);
      let retryMs: number | undefined;
      return {
        get silent() {
          return stream.silent;
        },
        heard: () => stream.heard(),
        get retryMs() {
          return retryMs;
        },
        [Symbol.asyncIterator]: () =>
          deliveries(stream, (ms) => {
            retryMs = ms;
          }),
      };
    },
  };
}

async function* deliveries(stream: ByteStream, onRetry: (ms: number) => void): AsyncGenerator<Delivery, void> {
  let events: StreamEvent[] = [];
  const parser = createEventParser({
    maxDataBytes: limits.frameBytes,
    onEvent: (event) => events.push(event),
    onRetry,
  });
  for await (const chunks of stream) {
    for (const chunk of chunks) parser.feed(chunk);
    const complete = events;
    events = [];
    for (const event of complete) {
      switch (event.name) {
        case eventStream.frameEvent:
          yield frameOf(event);
          break;
        case eventStream.gapEvent:
          yield { kind: "gap", cursor: cursorOf(event) };
          break;
        case eventStream.errorEvent:
          assertNoRefusal(event.data);
          return;
        default: // A name of another version, or of another purpose.
      }
    }
  }
}

function frameOf(event: StreamEvent): Delivery {
  const cursor = cursorOf(event);
  if (event.damage === undefined) return frameDelivery(event.data, { cursor });
  return malformedDelivery(event.data, [issueOf(event.damage)], cursor);
}

function issueOf(damage: NonNullable<StreamEvent["damage"]>): Issue {
  return damage === "too large"
    ? { pointer: "", rule: "x-max-bytes", expected: `at most ${limits.frameBytes} bytes`, received: "more" }
    : { pointer: "", rule: "json", expected: "UTF-8", received: "bytes that are not" };
}

/** A cursor goes back in a header: one that no header can carry is none. */
function cursorOf({ id }: StreamEvent): string | undefined {
  return id !== undefined && /^[!-~]{1,512}$/.test(id) ? id : undefined;
}

/** @throws HumanPlusError where the relay says why it ends the stream. An unknown reason only ends it. */
function assertNoRefusal(reason: string): void {
  const code = reason.trim();
  if (!Object.hasOwn(relayErrorStatus, code)) return;
  const { error, retryable } = readRelayRefusal(
    relayErrorStatus[code as RelayErrorCode],
    JSON.stringify({ error: code }),
  );
  throw new HumanPlusError(error, `the relay ended the event stream with ${code}`, {
    outcome: "not_applied",
    retryable,
  });
}
