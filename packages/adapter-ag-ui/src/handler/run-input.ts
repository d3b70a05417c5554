import type { JsonObject } from "@human-plus/core";
import { byteLength, isObject, type JsonObjectLike, jsonFault } from "../bounded-json.ts";
import type { AgUiContext, AgUiResumeEntry, AgUiRunInput, AgUiTool } from "../events.ts";
import { MessageReader, malformed, requireIdentifier } from "./input-messages.ts";
import type { Limits } from "./limits.ts";
import { badInput, overLimit } from "./refusal.ts";

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
 * Reads what a client of any version sends: `null` is absent, and so are members that nobody knows.
 *
 * @throws AgUiRefusal 400 or 413
 */
export function parseRunInput(body: unknown, limits: Limits): ParsedRunInput {
  if (!isObject(body)) throw malformed();
  for (const [key, value] of Object.entries(body)) assertBounded(key, value, limits);
  assertBounded("the input", Object.fromEntries(Object.keys(body).map((key) => [key, null])), limits);
  const { protocolVersion } = body;
  const parentRunId = absent(body["parentRunId"]) ? undefined : requireIdentifier("parentRunId", body["parentRunId"]);
  const state = body["state"] ?? undefined;
  if (state !== undefined && byteLength(JSON.stringify(state)) > limits.maxStateBytes)
    throw overLimit("state exceeds maxStateBytes");
  return {
    threadId: requireIdentifier("threadId", body["threadId"]),
    runId: requireIdentifier("runId", body["runId"]),
    ...(parentRunId === undefined ? {} : { parentRunId }),
    messages: new MessageReader(limits).read(listOf("messages", body["messages"], limits.maxInputMessages)),
    tools: listOf("tools", body["tools"], limits.maxInputTools).map((tool) => readTool(tool, limits)),
    context: listOf("context", body["context"], limits.maxInputContexts).map((entry) => readContext(entry, limits)),
    resume: listOf("resume", body["resume"], limits.maxInputInterrupts).map(readResumeEntry),
    ...(state === undefined ? {} : { state }),
    ...(absent(body["forwardedProps"]) ? {} : { forwardedProps: body["forwardedProps"] }),
    ...(typeof protocolVersion === "string" && protocolVersion.length <= 32 ? { protocolVersion } : {}),
  };
}

function assertBounded(name: string, value: unknown, limits: Limits): void {
  // Lists of the input have limits of their own, and each element counts by itself.
  const values = listNames.has(name) && Array.isArray(value) ? value : [value];
  for (const each of values) {
    const fault = jsonFault(each, limits);
    if (fault === "key" || fault === "value") throw badInput("Invalid JSON value in the run input");
    if (fault !== undefined) throw overLimit(`The run input exceeds ${limitOf[fault]}`);
  }
}

const listNames: ReadonlySet<string> = new Set(["messages", "tools", "context", "resume"]);

const limitOf = {
  depth: "maxJsonDepth",
  properties: "maxJsonProperties",
  items: "maxJsonArrayItems",
} as const;

function absent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function listOf(name: string, value: unknown, max: number): readonly JsonObjectLike[] {
  if (absent(value)) return [];
  if (!Array.isArray(value) || !value.every(isObject)) throw malformed();
  if (value.length > max) throw overLimit(`${name} has too many entries: at most ${max}`);
  return value;
}

function readTool(tool: JsonObjectLike, limits: Limits): AgUiTool {
  const { name, description, parameters } = tool;
  if (typeof name !== "string" || name === "") throw badInput("tool name is invalid");
  if (byteLength(name) > MAX_TOOL_NAME_BYTES) throw overLimit("A tool name is too long");
  if (!absent(description) && typeof description !== "string") throw malformed();
  if (byteLength(description ?? "") > MAX_TOOL_DESCRIPTION_BYTES) throw overLimit("A tool description is too long");
  if (!absent(parameters) && !isObject(parameters)) throw malformed();
  if (byteLength(JSON.stringify(tool)) > limits.maxInputToolBytes) throw overLimit("A tool exceeds maxInputToolBytes");
  return {
    name,
    description: description ?? "",
    ...(absent(parameters) ? {} : { parameters: parameters as JsonObject }),
  };
}

function readContext({ description, value }: JsonObjectLike, limits: Limits): AgUiContext {
  if (typeof description !== "string" || typeof value !== "string") throw malformed();
  if (byteLength(description) + byteLength(value) > limits.maxInputContextBytes)
    throw overLimit("A context exceeds maxInputContextBytes");
  return { description, value };
}

/** @throws AgUiRefusal 400 */
export function readResumeEntry({ interruptId, status, payload, metadata }: JsonObjectLike): AgUiResumeEntry {
  if (status !== "resolved" && status !== "cancelled") throw malformed();
  return {
    interruptId: requireIdentifier("interruptId", interruptId, MAX_INTERRUPT_ID),
    status,
    ...(payload === undefined ? {} : { payload }),
    ...(isObject(metadata) ? { metadata: metadata as JsonObject } : {}),
  };
}
