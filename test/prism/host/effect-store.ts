import { randomUUID } from "node:crypto";
import { effectError } from "./errors.ts";
import type { Ownership } from "./shapes.ts";

export interface EffectKey {
  readonly key: string;
  readonly ownership: Ownership;
  readonly sessionId: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly argumentsHash: string;
}

export type EffectStatus = "pending" | "dispatched" | "completed" | "failed_retryable" | "failed_terminal" | "unknown";

export interface EffectFailure {
  code: string;
  reference?: string;
}

export interface EffectRecord extends Omit<EffectKey, "ownership">, Ownership {
  status: EffectStatus;
  attempt: number;
  version: number;
  claimToken?: string;
  result?: unknown;
  failure?: EffectFailure;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  updatedAt: number;
  expiresAt?: number;
}

interface Claim {
  readonly key: string;
  readonly claimToken: string | undefined;
  readonly expectedVersion: number;
}

export interface EffectStore {
  get(key: string): EffectRecord | undefined;
  begin(key: EffectKey): { outcome: "acquired" | "existing"; record: EffectRecord };
  markDispatched(claim: Claim): EffectRecord;
  complete(claim: Claim & { result: unknown }): EffectRecord;
  markUnknown(claim: Claim & { failure?: EffectFailure }): EffectRecord;
  resolveUnknown(
    key: string,
    resolution: {
      expectedVersion: number;
      status: "completed" | "failed_retryable" | "failed_terminal";
      result?: unknown;
      failure?: EffectFailure;
    },
  ): EffectRecord;
}

const CLAIM_TTL_MS = 15 * 60_000;
const MAX_ATTEMPTS = 3;
const MAX_RESULT_BYTES = 64 * 1024;
const MAX_FAILURE_CODE_BYTES = 128;

/** The host's memory of effects: each change names the version and the claim that it builds on. */
export function createMemoryToolEffectStore({ now = Date.now }: { now?: () => number } = {}): EffectStore {
  const records = new Map<string, EffectRecord>();

  const expire = (record: EffectRecord): EffectRecord => {
    if (record.expiresAt === undefined || record.expiresAt > now()) return record;
    if (record.status === "pending") return write(record, { status: "failed_retryable" });
    if (record.status !== "dispatched") return record;
    return write(record, { status: "unknown", failure: { code: "ERR_PRISM_TOOL_EFFECT_EXPIRED" } });
  };
  const write = (record: EffectRecord, change: Partial<EffectRecord>): EffectRecord => {
    const next = { ...record, ...change, version: record.version + 1, updatedAt: now() };
    if (next.failure !== undefined && Buffer.byteLength(next.failure.code) > MAX_FAILURE_CODE_BYTES)
      throw effectError("LIMIT", "the failure code is too long");
    if (!["pending", "dispatched"].includes(next.status)) {
      delete next.expiresAt;
      delete next.claimToken;
    }
    records.set(record.key, next);
    return next;
  };
  const held = ({ key, claimToken, expectedVersion }: Claim): EffectRecord => {
    const record = records.get(key);
    if (record?.version === expectedVersion && record.claimToken === claimToken) return record;
    throw effectError("CONFLICT", "the effect was claimed by somebody else");
  };

  return {
    get(key) {
      const record = records.get(key);
      return record && expire(record);
    },
    begin({ ownership, ...key }) {
      const known = this.get(key.key);
      const mayTryAgain = known?.status === "failed_retryable" && known.attempt < MAX_ATTEMPTS;
      if (known !== undefined && !mayTryAgain) return { outcome: "existing", record: known };
      const at = now();
      const record: EffectRecord = {
        ...key,
        ...ownership,
        status: "pending",
        attempt: (known?.attempt ?? 0) + 1,
        version: (known?.version ?? 0) + 1,
        claimToken: randomUUID(),
        createdAt: known?.createdAt ?? at,
        updatedAt: at,
        expiresAt: at + CLAIM_TTL_MS,
      };
      records.set(key.key, record);
      return { outcome: "acquired", record };
    },
    markDispatched: (claim) => write(held(claim), { status: "dispatched" }),
    complete({ result, ...claim }) {
      const record = held(claim);
      const text = JSON.stringify(result);
      // The tool did its work all the same: only what it gave cannot be kept.
      if (Buffer.byteLength(text) > MAX_RESULT_BYTES) return write(record, { status: "unknown" });
      return write(record, { status: "completed", result: JSON.parse(text) });
    },
    markUnknown: ({ failure, ...claim }) => write(held(claim), { status: "unknown", ...(failure && { failure }) }),
    resolveUnknown(key, { expectedVersion, ...resolution }) {
      const record = records.get(key);
      if (record?.status !== "unknown" || record.version !== expectedVersion)
        throw effectError("CONFLICT", "the effect is not unknown at this version");
      return write(record, resolution);
    },
  };
}
