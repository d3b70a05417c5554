import type { JsonObject } from "@human-plus/core";
import { byteLength, isObject, type JsonObjectLike } from "../bounded-json.ts";
import type { AgUiContext, AgUiResumeEntry, AgUiRunInput, AgUiTool } from "../events.ts";
import { assertBounded, assertFits, listOf, readEach } from "./input-lists.ts";
import { readMessages, requireIdentifier } from "./input-messages.ts";
import type { Limits } from "./limits.ts";
import { invalid, overLimit } from "./refusal.ts";

/** A run input of which everything is checked, and every list is there. */
export interface ParsedRunInput extends AgUiRunInput {
  readonly tools: readonly AgUiTool[];
  readonly context: readonly AgUiContext[];
  readonly resume: readonly AgUiResumeEntry[];
}

const MAX_TOOL_NAME_BYTES = 512;
const MAX_TOOL_DESCRIPTION_BYTES = 8_192;

/** An id of ours is a run's of 128 characters, a colon and a version. */
const MAX_INTERRUPT_ID = 160;

/**
 * Reads what a client of any version sends: `null` is absent, and so are members that nobody knows. What is refused is said
 * with its place, and not with what was sent.
 *
 * @throws AgUiRefusal 400 or 413
 */
export function parseRunInput(body: unknown, limits: Limits): ParsedRunInput {
  if (!isObject(body)) throw invalid("The run input");
  const { messages, tools, context, resume, ...others } = body;
  assertBounded(others, limits, -1);
  const { threadId, runId, protocolVersion } = others;
  const parentRunId = others["parentRunId"] ?? undefined;
  const state = others["state"] ?? undefined;
  const forwardedProps = others["forwardedProps"] ?? undefined;
  if (state !== undefined) assertFits("state", JSON.stringify(state), limits, "maxStateBytes");
  return {
    threadId: requireIdentifier("threadId", threadId),
    runId: requireIdentifier("runId", runId),
    ...(parentRunId === undefined ? {} : { parentRunId: requireIdentifier("parentRunId", parentRunId) }),
    messages: readMessages(listOf("messages", messages, limits, "maxInputMessages"), limits),
    tools: readEach("tools", listOf("tools", tools, limits, "maxInputTools"), (tool) => readTool(tool, limits)),
    context: readEach("context", listOf("context", context, limits, "maxInputContexts"), (entry) =>
      readContext(entry, limits),
    ),
    resume: readEach("resume", listOf("resume", resume, limits, "maxInputInterrupts"), readResumeEntry),
    ...(state === undefined ? {} : { state }),
    ...(forwardedProps === undefined ? {} : { forwardedProps }),
    ...(typeof protocolVersion === "string" && protocolVersion.length <= 32 ? { protocolVersion } : {}),
  };
}

function readTool(tool: JsonObjectLike, limits: Limits): AgUiTool {
  const { name } = tool;
  const description = tool["description"] ?? "";
  const parameters = tool["parameters"] ?? undefined;
  if (typeof name !== "string" || name === "") throw invalid("tool name");
  if (typeof description !== "string") throw invalid("tool description");
  if (byteLength(name) > MAX_TOOL_NAME_BYTES || byteLength(description) > MAX_TOOL_DESCRIPTION_BYTES)
    throw overLimit("name or description", "512 or 8192 bytes");
  if (parameters !== undefined && !isObject(parameters)) throw invalid("tool parameters");
  assertFits("A tool", JSON.stringify(tool), limits, "maxInputToolBytes");
  return { name, description, ...(parameters === undefined ? {} : { parameters: parameters as JsonObject }) };
}

function readContext({ description, value }: JsonObjectLike, limits: Limits): AgUiContext {
  if (typeof description !== "string" || typeof value !== "string") throw invalid("context");
  assertFits("A context", description + value, limits, "maxInputContextBytes");
  return { description, value };
}

/** @throws AgUiRefusal 400 */
export function readResumeEntry({ interruptId, status, payload, metadata }: JsonObjectLike): AgUiResumeEntry {
  if (status !== "resolved" && status !== "cancelled") throw invalid("status");
  return {
    interruptId: requireIdentifier("interruptId", interruptId, MAX_INTERRUPT_ID),
    status,
    ...(payload === undefined ? {} : { payload }),
    ...(isObject(metadata) ? { metadata: metadata as JsonObject } : {}),
  };
}
