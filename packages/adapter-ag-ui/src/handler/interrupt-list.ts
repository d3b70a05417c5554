import type { JsonObject } from "@human-plus/core";
import { isObject, toJson, truncate } from "../bounded-json.ts";
import type { AgUiInterrupt } from "../events.ts";
import type { Limits } from "./limits.ts";

const MAX_ID = 160;
const MAX_TEXT_BYTES = 2_048;

/** The interrupts of a run, each with an id of its own, or `undefined` if there is none, too many, or one is none. */
export function readInterrupts(value: unknown, limits: Limits): readonly AgUiInterrupt[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.maxInputInterrupts) return undefined;
  const interrupts = value.map((interrupt) => readInterrupt(interrupt, limits));
  const ids = new Set(interrupts.map((interrupt) => interrupt?.id));
  if (ids.has(undefined) || ids.size < interrupts.length) return undefined;
  return interrupts as readonly AgUiInterrupt[];
}

function readInterrupt(value: unknown, limits: Limits): AgUiInterrupt | undefined {
  if (!isObject(value)) return undefined;
  const { id, reason, message, toolCallId, responseSchema, expiresAt, metadata } = value;
  if (typeof id !== "string" || id === "" || id.length > MAX_ID) return undefined;
  if (typeof reason !== "string" || reason === "") return undefined;
  const text = (member: unknown) => (typeof member === "string" ? truncate(member, MAX_TEXT_BYTES) : undefined);
  const json = (member: unknown) =>
    isObject(member) ? (toJson(member, limits.maxEventBytes, interruptBounds) as JsonObject | undefined) : undefined;
  const read = {
    id,
    reason: truncate(reason, MAX_TEXT_BYTES),
    message: text(message),
    toolCallId: text(toolCallId),
    responseSchema: json(responseSchema),
    expiresAt: text(expiresAt),
    metadata: json(metadata),
  };
  return JSON.parse(JSON.stringify(read)) as AgUiInterrupt;
}

/** Bytes bound them: a run with 128 decisions has to be able to ask for all of them. */
const interruptBounds = { maxJsonDepth: 64, maxJsonProperties: 4_096, maxJsonArrayItems: 8_192 };
