import { HumanPlusError } from "@human-plus/core";
import { utf8Bytes } from "./bounded-text.ts";
import { readableFailure } from "./call-failure.ts";
import type { ToolExecutionContext, ToolResult } from "./host.ts";
import type { Answer } from "./tool-call.ts";

/** What every result of a call carries. */
export interface ResultIdentity {
  readonly name: string;
  readonly toolCallId: ToolExecutionContext["toolCallId"];
}

export interface ToolResultOptions {
  /** UTF-8 bytes of the whole result as JSON. */
  maxBytes: number;
  /** Put the text into `content` as well. */
  content: boolean;
}

/** What a proposal answers instead of waiting. */
export const PROPOSED = "proposed, waiting for a person";

/** @throws HumanPlusError `result_refused`, outcome `applied`, for a result that the host could not keep */
export function toolResult(
  { name, toolCallId }: ResultIdentity,
  { text, notices, isProposal, facts }: Answer,
  { maxBytes, content }: ToolResultOptions,
): ToolResult {
  const result: ToolResult = {
    toolCallId,
    name,
    ...(content ? { content: [{ type: "text", text }] } : {}),
    value: {
      ...(isProposal ? { status: PROPOSED } : {}),
      text,
      ...(notices.length === 0 ? {} : { notices: [...notices] }),
    },
    metadata: { humanplus: facts },
  };
  if (utf8Bytes(JSON.stringify(result)) <= maxBytes) return result;
  const message = `the result of ${name} has more than ${maxBytes} bytes as JSON and was not handed on; ask the surface for less`;
  throw new HumanPlusError("result_refused", message, { outcome: "applied" });
}

/**
 * How a call ends that failed. Thrown, the host shows it as failed, and gives the model name, message and code; while the
 * host keeps a record of the call, a throw makes that record unknown, for ever. So what is known (nothing was written, or
 * all of it was) is then a result like any other, and the record is completed with it; what is not known is thrown.
 *
 * @throws HumanPlusError
 */
export function failedResult(
  { name, toolCallId }: ResultIdentity,
  error: unknown,
  { isRecorded, facts }: { isRecorded: boolean; facts: Answer["facts"] },
): ToolResult {
  const failure = readableFailure(error);
  const { code, message, outcome } = failure;
  if (!isRecorded || outcome === "unknown") throw failure;
  return {
    toolCallId,
    name,
    value: { failed: { code, message, outcome } },
    metadata: { humanplus: { ...facts, code, outcome } },
  };
}
