import { invalidArgument, requireInteger } from "../argument.ts";

const KiB = 1_024;
const MiB = 1_048_576;

interface Bound {
  readonly min: number;
  readonly default: number;
  readonly max: number;
}

const bytes = { min: KiB, default: 64 * KiB, max: MiB };

export type LimitName =
  | "maxRequestBytes"
  | "maxEventBytes"
  | "maxTextBytes"
  | "maxInputTextBytes"
  | "maxInputMediaBytes"
  | "maxStateBytes"
  | "maxActivityBytes"
  | "maxReasoningBytes"
  | "maxRawEventBytes"
  | "maxErrorBytes"
  | "maxInputToolBytes"
  | "maxInputContextBytes"
  | "maxCursorBytes"
  | "maxInputMessages"
  | "maxInputTools"
  | "maxInputContexts"
  | "maxInputInterrupts"
  | "maxInputMediaParts"
  | "maxReplayEvents"
  | "maxStreamEvents"
  | "maxStreamBytes"
  | "maxQueuedEvents"
  | "requestTimeoutMs"
  | "stallTimeoutMs"
  | "maxPatchOperations"
  | "maxJsonDepth"
  | "maxJsonProperties"
  | "maxJsonArrayItems";

/** Every bound of a handler: what it may be set to, and what it is otherwise. */
const limitBounds: Readonly<Record<LimitName, Bound>> = {
  maxRequestBytes: bytes,
  maxEventBytes: bytes,
  maxTextBytes: { ...bytes, min: 16 },
  maxInputTextBytes: bytes,
  maxInputMediaBytes: bytes,
  maxStateBytes: bytes,
  maxActivityBytes: bytes,
  maxReasoningBytes: bytes,
  maxRawEventBytes: bytes,
  maxErrorBytes: { min: 16, default: 8 * KiB, max: 64 * KiB },
  maxInputToolBytes: { min: KiB, default: 16 * KiB, max: 256 * KiB },
  maxInputContextBytes: { min: KiB, default: 16 * KiB, max: 256 * KiB },
  maxCursorBytes: { min: KiB, default: 4 * KiB, max: 16 * KiB },
  maxInputMessages: { min: 1, default: 128, max: 1_024 },
  maxInputTools: { min: 1, default: 32, max: 256 },
  maxInputContexts: { min: 1, default: 32, max: 256 },
  maxInputInterrupts: { min: 1, default: 8, max: 64 },
  maxInputMediaParts: { min: 1, default: 16, max: 64 },
  maxReplayEvents: { min: 1, default: 100, max: 500 },
  maxStreamEvents: { min: 1, default: 10_000, max: 100_000 },
  maxStreamBytes: { min: KiB, default: 10 * MiB, max: 64 * MiB },
  maxQueuedEvents: { min: 1, default: 128, max: 4_096 },
  requestTimeoutMs: { min: KiB, default: 120_000, max: 1_800_000 },
  stallTimeoutMs: { min: KiB, default: 30_000, max: 600_000 },
  maxPatchOperations: { min: 1, default: 128, max: 4_096 },
  maxJsonDepth: { min: 1, default: 16, max: 64 },
  maxJsonProperties: { min: 1, default: 128, max: 4_096 },
  maxJsonArrayItems: { min: 1, default: 512, max: 8_192 },
};

/** All limits. Sizes are UTF-8 bytes, times milliseconds; the README has defaults and caps. */
export type Limits = Readonly<Record<LimitName, number>>;

/** @throws HumanPlusError `invalid_argument` that names the limit */
export function resolveLimits(given: Readonly<Partial<Record<LimitName, number | undefined>>> = {}): Limits {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(limitBounds, name)) throw invalidArgument(`limits.${name.slice(0, 64)} is no limit`);
  const entries = Object.entries(limitBounds).map(([name, bound]) => {
    const value = given[name as LimitName];
    return [name, value === undefined ? bound.default : requireInteger(`limits.${name}`, value, bound)];
  });
  return Object.fromEntries(entries) as Limits;
}
