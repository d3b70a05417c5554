import { type RelayErrorCode, relayErrorStatus } from "@human-plus/core/protocol";

/** Counts since the broker was made. */
export interface BrokerCounters {
  framesToSurface: number;
  framesToAgents: number;
  /** Responses nobody asked for, and presence that a peer claimed. */
  framesDropped: number;
  /** How often a reader was told that it missed frames. */
  gaps: number;
  slowReadersCut: number;
  sessionsOpened: number;
  sessionsExpired: number;
  refusals: Record<RelayErrorCode, number>;
}

/** Numbers about a broker at one moment. They name no session, client or token. */
export interface BrokerStats extends Readonly<BrokerCounters> {
  readonly sessions: number;
  readonly clients: number;
  /** Open event streams. */
  readonly streams: number;
  /** Waiting polls. */
  readonly polls: number;
  readonly inFlight: number;
  readonly keptFrames: number;
  readonly keptBytes: number;
}

export function createCounters(): BrokerCounters {
  const codes = Object.keys(relayErrorStatus) as RelayErrorCode[];
  return {
    framesToSurface: 0,
    framesToAgents: 0,
    framesDropped: 0,
    gaps: 0,
    slowReadersCut: 0,
    sessionsOpened: 0,
    sessionsExpired: 0,
    refusals: Object.fromEntries(codes.map((code) => [code, 0])) as Record<RelayErrorCode, number>,
  };
}
