import {
  type RelayErrorCode,
  safeParseClientId,
  safeParseSessionId,
  safeParseSessionToken,
} from "@human-plus/core/protocol";
import { Confirmations } from "./confirmations.ts";
import type { BrokerContext } from "./context.ts";
import { Deadlines } from "./deadlines.ts";
import { readIncomingFrame } from "./incoming-frame.ts";
import { type BrokerOptions, type BrokerSettings, settleOptions } from "./options.ts";
import type { PollLeg } from "./poll-leg.ts";
import { Session } from "./session.ts";
import type { PollSink, StreamSink } from "./sinks.ts";
import { type BrokerStats, createCounters } from "./stats.ts";
import type { StreamLeg } from "./stream-leg.ts";
import { hashToken, isSameHash } from "./token-hash.ts";
import { Tombstones } from "./tombstones.ts";

/** Who speaks, to which session, and with what right. */
export interface Caller {
  readonly session: string | undefined;
  readonly token: string | undefined;
  /** The label of an agent; absent for the surface and for unlabelled agents. */
  readonly client?: string | undefined;
}

/** Where a reader begins. PROTOCOL.md section 2.1 and 2.4. */
export interface ReadRequest extends Caller {
  /** What the surface reads, or what agents read. @default outbound if there is a client, else inbound */
  readonly direction?: "inbound" | "outbound" | undefined;
  /** The last cursor it read. */
  readonly cursor?: string | undefined;
}

export interface PollRequest extends ReadRequest {
  /** How long the poller would wait, in milliseconds. Clamped to `maxWaitMs`. */
  readonly waitMs: number;
  /** Present in dialect "poll", where the broker keeps the position. */
  readonly subscriber?: { readonly id: string | undefined } | undefined;
}

/** Sessions, routing and delivery, without HTTP. Everything that is refused says so with a code of the contract's error table. */
export interface Broker {
  readonly settings: BrokerSettings;
  /** Opens a session, or finds it again. */
  register(session: string, token: string): RelayErrorCode | undefined;
  /** Whether the caller may speak in its session: what the other operations check first. Costs no state. */
  authorize(caller: Caller): RelayErrorCode | undefined;
  /** Takes a frame of an agent, as JSON text. */
  sendToSurface(caller: Caller, text: string): RelayErrorCode | undefined;
  /** Takes a frame of the surface, as JSON text. */
  sendToAgents(caller: Caller, text: string): RelayErrorCode | undefined;
  /** Opens an event stream; the sink is used only if it was accepted. */
  openStream(request: ReadRequest, sink: StreamSink): StreamLeg | RelayErrorCode;
  /** Opens a long poll; the sink is used only if it was accepted. */
  openPoll(request: PollRequest, sink: PollSink): PollLeg | RelayErrorCode;
  /** With a client, that agent leaves; without, the session ends. A session that is gone already is a success. */
  unregister(caller: Caller): RelayErrorCode | undefined;
  stats(): BrokerStats;
  /** Whether {@link drain} was called. */
  readonly isDraining: boolean;
  /** Refuses new sessions, requests and legs with `shutting_down`; answers to requests in flight are still delivered. */
  drain(): void;
  /** Resolves when no request is in flight, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>;
  /** Tells all legs `shutting_down`, ends them, and forgets everything. */
  close(): void;
}

/** Makes a broker that keeps its sessions in memory. */
export function createBroker(options: BrokerOptions = {}): Broker {
  const settings = settleOptions(options);
  const { clock } = settings;
  const context: BrokerContext = {
    settings,
    bounds: { maxFrames: settings.queueFrames, maxBytes: settings.queueBytes, maxAgeMs: settings.queueAgeMs },
    deadlines: new Deadlines(clock),
    confirmations: new Confirmations(clock),
    counters: createCounters(),
    open: { streams: 0, polls: 0 },
  };
  const sessions = new Map<string, Session>();
  const tombstones = new Tombstones(settings.maxTombstones, settings.ttlMs);
  let isDraining = false;
  let onIdle: (() => void) | undefined;

  function endSession(session: Session, reason: "unregistered" | "expired" | "closed"): void {
    sessions.delete(session.id);
    if (reason === "expired") context.counters.sessionsExpired++;
    if (reason !== "closed") tombstones.add(session.id, session.tokenHash, clock.now());
    session.end(reason === "closed" ? "shutting_down" : "session_gone");
    settings.onEvent({ kind: "session_ended", session: session.id, reason });
    checkIdle();
  }

  function inFlight(): number {
    let count = 0;
    for (const session of sessions.values()) count += session.inFlight.size;
    return count;
  }

  function checkIdle(): void {
    if (onIdle !== undefined && inFlight() === 0) onIdle();
  }

  /** The caller's session, or why not. */
  function find({ session: id, token, client }: Caller): Session | RelayErrorCode {
    if (id === undefined || id === "") return "missing_session";
    if (!safeParseSessionId(id).ok) return "invalid_session_id";
    if (token === undefined || !safeParseSessionToken(token).ok) return "invalid_token";
    const session = sessions.get(id);
    if (session === undefined) return "session_gone";
    if (!isSameHash(session.tokenHash, hashToken(token))) return "invalid_token";
    if (client !== undefined && !safeParseClientId(client).ok) return "missing_fields";
    session.touch();
    return session;
  }

  /** Counts refusals; what is no code goes through. */
  function counted<T>(outcome: T): T {
    if (typeof outcome === "string" && outcome in context.counters.refusals) {
      context.counters.refusals[outcome as RelayErrorCode]++;
    }
    return outcome;
  }

  function register(id: string, token: string): RelayErrorCode | undefined {
    if (!safeParseSessionId(id).ok) return "invalid_session_id";
    if (!safeParseSessionToken(token).ok) return "invalid_token";
    if (isDraining) return "shutting_down";
    const tokenHash = hashToken(token);
    const known = sessions.get(id);
    if (known !== undefined) {
      if (!isSameHash(known.tokenHash, tokenHash)) return "session_taken";
      known.surfaceRegistered();
      return undefined;
    }
    if (tombstones.isTaken(id, tokenHash, clock.now())) return "session_taken";
    if (sessions.size >= settings.maxSessions) return "too_many_sessions";
    tombstones.delete(id);
    sessions.set(id, new Session(context, id, tokenHash, (expired) => endSession(expired, "expired")));
    context.counters.sessionsOpened++;
    settings.onEvent({ kind: "session_opened", session: id });
    return undefined;
  }

  function sendToSurface(caller: Caller, text: string): RelayErrorCode | undefined {
    const session = find(caller);
    if (typeof session === "string") return session;
    if (isDraining) return "shutting_down";
    const frame = readIncomingFrame(text, settings.maxFrameBytes);
    return typeof frame === "string" ? frame : session.sendToSurface(frame, caller.client);
  }

  function sendToAgents(caller: Caller, text: string): RelayErrorCode | undefined {
    const session = find(caller);
    if (typeof session === "string") return session;
    const frame = readIncomingFrame(text, settings.maxFrameBytes);
    if (typeof frame === "string") return frame;
    const refusal = session.sendToAgents(frame);
    checkIdle();
    return refusal;
  }

  function openLeg<T>(request: ReadRequest, open: (session: Session, isInbound: boolean) => T): T | RelayErrorCode {
    const session = find(request);
    if (typeof session === "string") return session;
    if (isDraining) return "shutting_down";
    const direction = request.direction ?? (request.client === undefined ? "inbound" : "outbound");
    return open(session, direction === "inbound");
  }

  function unregister(caller: Caller): RelayErrorCode | undefined {
    const session = find(caller);
    if (session === "session_gone") return undefined;
    if (typeof session === "string") return session;
    if (caller.client === undefined) endSession(session, "unregistered");
    else {
      session.removeClient(caller.client);
      checkIdle();
    }
    return undefined;
  }

  function stats(): BrokerStats {
    const totals = { sessions: sessions.size, clients: 0, inFlight: inFlight(), keptFrames: 0, keptBytes: 0 };
    for (const session of sessions.values()) {
      totals.clients += session.clients.size;
      for (const { queue } of session.readers()) {
        totals.keptFrames += queue.size;
        totals.keptBytes += queue.bytes;
      }
    }
    return { ...context.counters, refusals: { ...context.counters.refusals }, ...context.open, ...totals };
  }

  return {
    settings,
    register: (session, token) => counted(register(session, token)),
    authorize(caller) {
      const session = find(caller);
      return typeof session === "string" ? counted(session) : undefined;
    },
    sendToSurface: (caller, text) => counted(sendToSurface(caller, text)),
    sendToAgents: (caller, text) => counted(sendToAgents(caller, text)),
    openStream: (request, sink) =>
      counted(
        openLeg(request, (session, inbound) =>
          session.openStream({ inbound, client: request.client, cursor: request.cursor }, sink),
        ),
      ),
    openPoll: (request, sink) =>
      counted(
        openLeg(request, (session, inbound) =>
          session.openPoll(
            {
              inbound,
              client: request.client,
              cursor: request.cursor,
              subscriber: request.subscriber,
              waitMs: request.waitMs,
            },
            sink,
          ),
        ),
      ),
    unregister: (caller) => counted(unregister(caller)),
    stats,
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
    },
    idle(timeoutMs) {
      if (inFlight() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = clock.schedule(timeoutMs, () => onIdle?.());
        onIdle = () => {
          cancel();
          onIdle = undefined;
          resolve();
        };
      });
    },
    close() {
      isDraining = true;
      for (const session of [...sessions.values()]) endSession(session, "closed");
      context.deadlines.close();
    },
  };
}
