import { limits } from "@human-plus/core/protocol";
import { type Clock, createSystemClock } from "./clock.ts";

/** What a broker may be told. Bytes are UTF-8 bytes. */
export interface BrokerOptions {
  /** How long a session lives that nobody uses, in milliseconds. An open leg is use. @default 3_600_000 */
  ttlMs?: number | undefined;
  /** Sessions at one time; one more is refused with `too_many_sessions`. @default 10_000 */
  maxSessions?: number | undefined;
  /** Clients of one session; one more is refused with `too_many_clients`. @default 1_000 */
  maxClients?: number | undefined;
  /** Legs of one client, or of the surface; one more ends the oldest, whose frames stay. Unlabelled agents together have `maxClients`. @default 16 */
  maxLegs?: number | undefined;
  /** Bytes of one frame; a larger one is refused with `payload_too_large`. @default 262_144 */
  maxFrameBytes?: number | undefined;
  /** Requests of one session that may be unanswered; one more is refused with `too_many_in_flight`. @default 1_000 */
  maxInFlight?: number | undefined;
  /** An unanswered request older than this gives way when its id or its place is needed, in milliseconds. @default 600_000 */
  inFlightAgeMs?: number | undefined;
  /** Frames kept for one reader. @default 256 */
  queueFrames?: number | undefined;
  /** Bytes of frames kept for one reader. @default 1_048_576 */
  queueBytes?: number | undefined;
  /** How long a frame is kept, in milliseconds. @default 60_000 */
  queueAgeMs?: number | undefined;
  /** Bytes that may come for a stream while its socket takes nothing; then it is cut off and resumes with its cursor. @default 262_144 */
  maxStalledBytes?: number | undefined;
  /** How long frames are kept for a surface whose last leg closed, before `surface_absent`, in milliseconds. @default 5_000 */
  surfaceGraceMs?: number | undefined;
  /** How long after its last leg closed a client counts as having left, in milliseconds. @default 5_000 */
  peerGraceMs?: number | undefined;
  /** Interval of keepalive comments, in milliseconds. A stream that took nothing for two of them is cut off. @default 15_000 */
  keepAliveMs?: number | undefined;
  /** The longest wait of a poll, in milliseconds. @default 25_000 */
  maxWaitMs?: number | undefined;
  /** Ended sessions that are remembered, each for `ttlMs`, so that nobody else takes their id. @default 10_000 */
  maxTombstones?: number | undefined;
  /** Time. @default the platform's */
  clock?: Clock | undefined;
  /** Lower-case hex digits of that many random bytes. @default Web Crypto */
  randomHex?: ((bytes: number) => string) | undefined;
  /** Told of what happens to sessions and clients, for logs. Never holds a token or a frame. @default nobody */
  onEvent?: ((event: BrokerEvent) => void) | undefined;
}

/** What happened to a session or a client. Client labels and session ids are chosen by others: treat them as untrusted text. */
export type BrokerEvent =
  | { readonly kind: "session_opened"; readonly session: string }
  | { readonly kind: "session_ended"; readonly session: string; readonly reason: "unregistered" | "expired" | "closed" }
  | { readonly kind: "peer_joined"; readonly session: string; readonly client: string }
  | { readonly kind: "peer_left"; readonly session: string; readonly client: string }
  | { readonly kind: "slow_reader_cut"; readonly session: string; readonly client: string | undefined };

/** All options, with the defaults filled in. */
export type BrokerSettings = { readonly [Key in keyof BrokerOptions]-?: Exclude<BrokerOptions[Key], undefined> };

export function settleOptions(options: BrokerOptions): BrokerSettings {
  const settings: BrokerSettings = {
    ttlMs: options.ttlMs ?? 3_600_000,
    maxSessions: options.maxSessions ?? 10_000,
    maxClients: options.maxClients ?? 1_000,
    maxLegs: options.maxLegs ?? 16,
    maxFrameBytes: options.maxFrameBytes ?? limits.frameBytes,
    maxInFlight: options.maxInFlight ?? limits.inFlightRequests,
    inFlightAgeMs: options.inFlightAgeMs ?? 600_000,
    queueFrames: options.queueFrames ?? limits.queueFrames,
    queueBytes: options.queueBytes ?? limits.queueBytes,
    queueAgeMs: options.queueAgeMs ?? limits.queueAgeMs,
    maxStalledBytes: options.maxStalledBytes ?? 262_144,
    surfaceGraceMs: options.surfaceGraceMs ?? limits.surfaceGraceMs,
    peerGraceMs: options.peerGraceMs ?? limits.peerGraceMs,
    keepAliveMs: options.keepAliveMs ?? limits.sseKeepAliveMs,
    maxWaitMs: options.maxWaitMs ?? limits.pollWaitMaxMs,
    maxTombstones: options.maxTombstones ?? 10_000,
    clock: options.clock ?? createSystemClock(),
    randomHex: options.randomHex ?? randomHex,
    onEvent: options.onEvent ?? (() => undefined),
  };
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "number" && !(Number.isSafeInteger(value) && value > 0)) {
      throw new RangeError(`${name} must be a positive integer, and is ${value}`);
    }
  }
  if (settings.queueBytes < settings.maxFrameBytes) {
    throw new RangeError(
      `queueBytes (${settings.queueBytes}) must be at least maxFrameBytes (${settings.maxFrameBytes}), or a frame could not be kept`,
    );
  }
  return settings;
}

function randomHex(bytes: number): string {
  let digits = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) digits += byte.toString(16).padStart(2, "0");
  return digits;
}
