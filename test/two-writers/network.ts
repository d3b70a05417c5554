import {
  type Delivery,
  HumanPlusError,
  type Invitation,
  type Receiver,
  type RelayErrorCode,
  readRelayRefusal,
  relayErrorStatus,
  type Sender,
  safeParseFrameText,
} from "@human-plus/core/protocol";
import { type Broker, createBroker, type StreamSink } from "@human-plus/relay/fetch";
import type { VirtualTime } from "./virtual-time.ts";

/** A stretch of the way that a frame takes. */
export type Hop = "agent to relay" | "relay to page" | "page to relay" | "relay to agent";

/** What happens to the next frame on a hop. On the way to the relay a lost frame looks as if only its answer was lost. */
export type Fate = "lost" | "answer lost" | "twice";

/** The broker itself, and instead of HTTP a network whose every step waits to be released. */
export interface Network {
  readonly sender: Sender;
  readonly receiver: Receiver;
  /** Attaches a page: registers, receives, and sends in order until it arrived. */
  attachPage(receive: (text: string) => void): PageLink;
  doom(hop: Hop, fate: Fate): void;
  /** Breaks every stream that is open; readers come back with their cursors. */
  cutStreams(): void;
  /** A new relay that knows nothing. */
  restartRelay(): void;
  close(): void;
}

export interface PageLink {
  send(text: string): void;
  /** The page is gone: nothing of it runs any more. */
  kill(): void;
}

export interface NetworkOptions {
  readonly invitation: Invitation;
  readonly time: VirtualTime;
  /** Resolves when this step may happen. */
  readonly step: (label: string) => Promise<void>;
  /** Something happened to a frame that a story should tell. */
  readonly onFate: (hop: Hop, fate: Fate, text: string) => void;
}

interface Leg {
  readonly sink: StreamSink;
  end(): void;
}

export function createNetwork({ invitation, time, step, onFate }: NetworkOptions): Network {
  const { sessionId: session, token } = invitation;
  const fates = new Map<Hop, Fate[]>();
  const legs = new Set<Leg>();
  let broker = startBroker();

  function startBroker(): Broker {
    const clock = {
      now: time.now,
      schedule: (ms: number, run: () => void) => time.schedule(ms, run),
      afterTurn: (run: () => void) => queueMicrotask(run),
    };
    return createBroker({ clock });
  }

  function fateOf(hop: Hop, text: string): Fate | undefined {
    const fate = fates.get(hop)?.shift();
    if (fate !== undefined) onFate(hop, fate, text);
    return fate;
  }

  /** One stream: what is written waits in order, and comes out one frame at a time. */
  function createStream(hop: Hop, onFrame: (cursor: string, text: string) => void, onEnd: () => void) {
    const waiting: (readonly [string, string])[] = [];
    let isOpen = true;
    let opened: { closed(): void } | undefined;
    async function deliver(): Promise<void> {
      await step(hop);
      const frame = waiting.shift();
      if (!isOpen || frame === undefined) return;
      const twice = fateOf(hop, frame[1]) === "twice";
      onFrame(...frame);
      if (twice) onFrame(...frame);
    }
    function end(): void {
      if (!isOpen) return;
      isOpen = false;
      legs.delete(leg);
      opened?.closed();
      onEnd();
    }
    const sink: StreamSink = {
      open: () => true,
      frame(cursor, text) {
        waiting.push([cursor, text]);
        void deliver();
        return true;
      },
      gap: () => true,
      keepAlive: () => true,
      end,
      cut: end,
      isOpen: () => isOpen,
    };
    const leg: Leg = { sink, end };
    return {
      end,
      start(open: (sink: StreamSink) => { closed(): void } | RelayErrorCode): RelayErrorCode | undefined {
        const answer = open(sink);
        if (typeof answer === "string") return answer;
        opened = answer;
        legs.add(leg);
        return undefined;
      },
    };
  }

  const sender: Sender = {
    async send({ client }, frame, { signal }) {
      const text = JSON.stringify(frame);
      await step("agent to relay");
      if (signal.aborted) throw new HumanPlusError("aborted", "the request was aborted", { outcome: "unknown" });
      const fate = fateOf("agent to relay", text);
      if (fate !== "lost") {
        const refusal = broker.sendToSurface({ session, token, client }, text);
        if (fate === "twice") broker.sendToSurface({ session, token, client }, text);
        if (fate !== "answer lost" && refusal !== undefined) throw refusalError(refusal);
      }
      if (fate === "lost" || fate === "answer lost")
        return { kind: "unconfirmed", error: new HumanPlusError("relay_failed", "the connection broke") };
      return { kind: "accepted" };
    },
    async unregister({ client }) {
      broker.unregister({ session, token, client });
    },
    async close() {},
  };

  const receiver: Receiver = {
    async open({ client }, { after, signal }) {
      await step("an agent opens its stream");
      const arrived: Delivery[] = [];
      let wake: (() => void) | undefined;
      let isOver = false;
      const stream = createStream(
        "relay to agent",
        (cursor, text) => {
          const parsed = safeParseFrameText(text);
          if (!parsed.ok) throw new Error(`the relay delivered what is no frame: ${text}`);
          arrived.push({ kind: "frame", frame: parsed.value, cursor });
          wake?.();
        },
        () => {
          isOver = true;
          wake?.();
        },
      );
      signal.addEventListener("abort", stream.end, { once: true });
      const refusal = stream.start((sink) =>
        broker.openStream({ session, token, client, direction: "outbound", cursor: after }, sink),
      );
      if (refusal !== undefined) throw refusalError(refusal);
      return {
        silent: false,
        async *[Symbol.asyncIterator]() {
          for (;;) {
            const next = arrived.shift();
            if (next !== undefined) yield next;
            else if (isOver) return;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        },
      };
    },
  };

  function attachPage(receive: (text: string) => void): PageLink {
    const outbox: string[] = [];
    let cursor: string | undefined;
    let isAlive = true;
    let isSending = false;
    let stream: ReturnType<typeof createStream> | undefined;
    async function listen(): Promise<void> {
      await step("the page registers");
      if (!isAlive || broker.register(session, token) !== undefined) return;
      const own = createStream(
        "relay to page",
        (at, text) => {
          cursor = at;
          receive(text);
        },
        () => void listen(),
      );
      stream = own;
      own.start((sink) => broker.openStream({ session, token, direction: "inbound", cursor }, sink));
    }
    async function pump(): Promise<void> {
      isSending = true;
      for (let text = outbox[0]; text !== undefined && isAlive; text = outbox[0]) {
        await step("page to relay");
        if (!isAlive) return;
        const fate = fateOf("page to relay", text);
        if (fate === "lost") continue;
        const refusal = broker.sendToAgents({ session, token }, text);
        if (refusal === "session_gone") broker.register(session, token);
        else if (fate !== "answer lost") outbox.shift();
        if (fate === "twice") broker.sendToAgents({ session, token }, text);
      }
      isSending = false;
    }
    void listen();
    return {
      send(text) {
        outbox.push(text);
        if (!isSending) void pump();
      },
      kill() {
        isAlive = false;
        stream?.end();
      },
    };
  }

  return {
    sender,
    receiver,
    attachPage,
    doom: (hop, fate) => void fates.set(hop, [...(fates.get(hop) ?? []), fate]),
    cutStreams() {
      for (const leg of [...legs]) leg.end();
    },
    restartRelay() {
      broker.close();
      broker = startBroker();
    },
    close: () => broker.close(),
  };
}

/** The error that the HTTP half of a transport makes of a refusal. */
function refusalError(code: RelayErrorCode): HumanPlusError {
  const { error, outcome, retryable } = readRelayRefusal(relayErrorStatus[code], JSON.stringify({ error: code }));
  return new HumanPlusError(error, `the relay refused: ${code}`, { outcome, retryable });
}
