import type { JsonObject } from "@human-plus/core";
import { byteLength, isObject, type JsonObjectLike } from "../bounded-json.ts";
import type { AgUiResumeEntry } from "../events.ts";
import { badInput } from "./refusal.ts";
import type { RunDecision, RunVerdict } from "./run-lifecycle.ts";

const MAX_DECISIONS = 128;
const MAX_APPROVAL_ID = 128;
const MAX_REASON_BYTES = 2_048;
const MAX_OBJECT_BYTES = 16_384;

const outcomes = ["allow_once", "allow_for_run", "reject_once", "reject_for_run"] as const;
const decisionKeys: ReadonlySet<string> = new Set([
  "approvalId",
  "outcome",
  "reason",
  "modifiedArguments",
  "elicitation",
]);

/** What a payload has to be: one decision about all that waits, or one about each. */
export const verdictSchema: JsonObject = {
  type: "object",
  oneOf: [
    {
      properties: { decision: { enum: ["approve", "deny"] } },
      required: ["decision"],
      additionalProperties: false,
    },
    { properties: { approved: { type: "boolean" } }, required: ["approved"], additionalProperties: false },
    {
      properties: {
        decisions: {
          type: "array",
          minItems: 1,
          maxItems: MAX_DECISIONS,
          items: {
            type: "object",
            properties: {
              approvalId: { type: "string", minLength: 1, maxLength: MAX_APPROVAL_ID },
              outcome: { enum: [...outcomes] },
              reason: { type: "string", maxLength: MAX_REASON_BYTES },
              modifiedArguments: { type: "object" },
              elicitation: { type: "object" },
            },
            required: ["approvalId", "outcome"],
            additionalProperties: false,
          },
        },
      },
      required: ["decisions"],
      additionalProperties: false,
    },
  ],
};

/** Whether somebody wants the call to be another one: nothing here can show them what it would do, so it is not made. */
export function isEdit({ payload }: AgUiResumeEntry): boolean {
  return isObject(payload) && (Object.hasOwn(payload, "editedArgs") || Object.hasOwn(payload, "args"));
}

/**
 * Reads the payload of a resolved entry, which has exactly one key.
 *
 * @throws AgUiRefusal 400
 */
export function readVerdict(payload: unknown): RunVerdict {
  const keys = isObject(payload) ? Object.keys(payload) : [];
  if (!isObject(payload) || keys.length !== 1) throw invalid();
  const { decision, approved, decisions } = payload;
  if (decision === "approve" || decision === "deny") return { decision };
  if (typeof approved === "boolean") return { decision: approved ? "approve" : "deny" };
  if (!Array.isArray(decisions)) throw invalid();
  return { decisions: readDecisions(decisions) };
}

/** What a policy of the host gave. @returns nothing if it is none */
export function safeReadVerdict(value: unknown): RunVerdict | undefined {
  if (!isObject(value)) return undefined;
  const { expectedVersion: _, ...payload } = value;
  try {
    return readVerdict(payload);
  } catch {
    return undefined;
  }
}

function readDecisions(values: readonly unknown[]): readonly [RunDecision, ...RunDecision[]] {
  if (values.length > MAX_DECISIONS) throw invalid();
  const [first, ...rest] = values.map(readDecision);
  if (first === undefined) throw invalid();
  const ids = new Set([first, ...rest].map(({ approvalId }) => approvalId));
  if (ids.size < values.length) throw invalid();
  return [first, ...rest];
}

function readDecision(value: unknown): RunDecision {
  if (!isObject(value) || !Object.keys(value).every((key) => decisionKeys.has(key))) throw invalid();
  const { approvalId, outcome, reason, modifiedArguments, elicitation } = value;
  if (typeof approvalId !== "string" || approvalId === "" || approvalId.length > MAX_APPROVAL_ID) throw invalid();
  if (!outcomes.includes(outcome as RunDecision["outcome"])) throw invalid();
  if (reason !== undefined && !(typeof reason === "string" && byteLength(reason) <= MAX_REASON_BYTES)) throw invalid();
  return {
    approvalId,
    outcome: outcome as RunDecision["outcome"],
    ...(reason === undefined ? {} : { reason }),
    ...(modifiedArguments === undefined ? {} : { modifiedArguments: boundedObject(modifiedArguments) }),
    ...(elicitation === undefined ? {} : { elicitation: boundedObject(elicitation) }),
  };
}

function boundedObject(value: unknown): JsonObjectLike {
  if (isObject(value) && byteLength(JSON.stringify(value)) <= MAX_OBJECT_BYTES) return value;
  throw invalid();
}

function invalid(): Error {
  return badInput("Resume payload is invalid");
}
