import type { JsonObject } from "@human-plus/core";
import { byteLength, isObject } from "../bounded-json.ts";
import type { AgUiResumeEntry } from "../events.ts";
import type { RunDecision, RunVerdict } from "./run-lifecycle.ts";

const MAX_DECISIONS = 128;
const MAX_APPROVAL_ID = 128;
const MAX_REASON_BYTES = 2_048;
const MAX_OBJECT_BYTES = 16_384;

const outcomes = ["allow_once", "allow_for_run", "reject_once", "reject_for_run"] as const;

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

/** Reads the payload of a resolved entry, which has exactly one key. @returns nothing if it is none */
export function readVerdict(payload: unknown): RunVerdict | undefined {
  if (!isObject(payload) || Object.keys(payload).length !== 1) return undefined;
  const { decision, approved, decisions } = payload;
  if (decision === "approve" || decision === "deny") return { decision };
  if (typeof approved === "boolean") return { decision: approved ? "approve" : "deny" };
  if (!Array.isArray(decisions) || !isCount(decisions.length, MAX_DECISIONS) || !decisions.every(isDecision))
    return undefined;
  const ids = new Set(decisions.map(({ approvalId }) => approvalId));
  return ids.size < decisions.length ? undefined : { decisions: decisions as [RunDecision, ...RunDecision[]] };
}

function isDecision(value: unknown): value is RunDecision {
  if (!isObject(value)) return false;
  const { approvalId, outcome, reason, modifiedArguments, elicitation, ...unknown } = value;
  return (
    typeof approvalId === "string" &&
    isCount(approvalId.length, MAX_APPROVAL_ID) &&
    outcomes.includes(outcome as RunDecision["outcome"]) &&
    (reason === undefined || (typeof reason === "string" && byteLength(reason) <= MAX_REASON_BYTES)) &&
    [modifiedArguments, elicitation].every(isBoundedObject) &&
    Object.keys(unknown).length === 0
  );
}

function isCount(count: number, max: number): boolean {
  return count > 0 && count <= max;
}

function isBoundedObject(value: unknown): boolean {
  return value === undefined || (isObject(value) && byteLength(JSON.stringify(value)) <= MAX_OBJECT_BYTES);
}
