import type { JsonObject } from "@human-plus/core";
import { byteLength, isObject, type JsonObjectLike } from "../bounded-json.ts";
import type { AgUiContentPart, AgUiMessage, AgUiToolCall } from "../events.ts";
import { isIdentifier } from "../identifier.ts";
import type { Limits } from "./limits.ts";
import { badInput, overLimit } from "./refusal.ts";

/** Reads the messages of one input. */
export class MessageReader {
  readonly #limits: Limits;
  readonly #activities: boolean;
  #mediaParts = 0;

  /** @param options Whether activities are read. They are for people, and clients leave them out of what they send. */
  constructor(limits: Limits, { activities = false }: { readonly activities?: boolean } = {}) {
    this.#limits = limits;
    this.#activities = activities;
  }

  /** @throws AgUiRefusal 400 or 413 */
  readList(messages: unknown): AgUiMessage[] {
    if (!Array.isArray(messages) || !messages.every(isObject)) throw malformed();
    return this.read(messages);
  }

  /** @throws AgUiRefusal 400 or 413 */
  read(messages: readonly JsonObjectLike[]): AgUiMessage[] {
    return messages.flatMap((message) => this.#message(message) ?? []);
  }

  #message(message: JsonObjectLike): AgUiMessage | undefined {
    const { role, content } = message;
    const id = requireIdentifier("message id", message["id"]);
    const name = typeof message["name"] === "string" ? { name: this.#bounded(message["name"]) } : {};
    switch (role) {
      case "user":
        return { id, role, content: this.#userContent(content), ...name };
      case "developer":
      case "system":
        return { id, role, content: this.#text(content), ...name };
      case "assistant": {
        const calls = message["toolCalls"] ?? [];
        if (!Array.isArray(calls)) throw malformed();
        return {
          id,
          role,
          ...(content === undefined || content === null ? {} : { content: this.#text(content) }),
          ...name,
          ...(calls.length === 0 ? {} : { toolCalls: calls.map((call) => this.#toolCall(call)) }),
        };
      }
      case "tool": {
        const { error } = message;
        return {
          id,
          role,
          toolCallId: requireIdentifier("tool result id", message["toolCallId"]),
          content: this.#text(content),
          ...(typeof error === "string" ? { error: this.#bounded(error) } : {}),
        };
      }
      case "reasoning": {
        const { encryptedValue } = message;
        const value = typeof encryptedValue === "string" ? { encryptedValue: this.#bounded(encryptedValue) } : {};
        return { id, role, content: this.#text(content ?? ""), ...value };
      }
      case "activity": {
        const { activityType } = message;
        if (!this.#activities) return undefined;
        if (typeof activityType !== "string" || !isObject(content)) throw malformed();
        return { id, role, activityType, content: content as JsonObject };
      }
      default:
        throw malformed();
    }
  }

  #toolCall(call: unknown): AgUiToolCall {
    const made = isObject(call) ? call["function"] : undefined;
    if (!isObject(call) || !isObject(made)) throw malformed();
    const { name, arguments: args } = made;
    if (typeof name !== "string" || typeof args !== "string") throw malformed();
    return {
      id: requireIdentifier("tool call id", call["id"]),
      type: "function",
      function: { name: this.#bounded(name), arguments: this.#bounded(args) },
    };
  }

  #userContent(content: unknown): string | readonly AgUiContentPart[] {
    if (!Array.isArray(content)) return this.#text(content);
    return content.map((part: unknown) => this.#part(part));
  }

  /** What a part is for is the host's matter, and kinds that it does not know are for it to skip. */
  #part(part: unknown): AgUiContentPart {
    if (!isObject(part) || typeof part["type"] !== "string") throw malformed();
    if (part["type"] === "text") {
      if (typeof part["text"] !== "string") throw malformed();
      return { type: "text", text: this.#bounded(part["text"]) };
    }
    this.#mediaParts++;
    if (this.#mediaParts > this.#limits.maxInputMediaParts) throw overLimit("Too many media parts");
    if (byteLength(JSON.stringify(part)) > this.#limits.maxInputMediaBytes)
      throw overLimit("A media part exceeds maxInputMediaBytes");
    return part as AgUiContentPart;
  }

  /** A text, or the text of parts. */
  #text(content: unknown): string {
    if (typeof content === "string") return this.#bounded(content);
    if (!Array.isArray(content)) throw malformed();
    const parts = content.map((part: unknown) => this.#part(part));
    return this.#bounded(parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  #bounded(text: string): string {
    if (byteLength(text) <= this.#limits.maxInputTextBytes) return text;
    throw overLimit("A text exceeds maxInputTextBytes");
  }
}

/** @throws AgUiRefusal 400 */
export function requireIdentifier(name: string, value: unknown, maxLength?: number): string {
  if (isIdentifier(value, maxLength)) return value;
  throw badInput(`${name} is invalid`);
}

export function malformed(): Error {
  return badInput("Invalid AG-UI run input");
}

/**
 * What a handler without `input.project` takes of an input: the text of the last message of a user.
 *
 * @throws AgUiRefusal 400
 */
export function lastUserText(input: {
  readonly messages: readonly AgUiMessage[];
  readonly tools: readonly unknown[];
  readonly state?: unknown;
}): string {
  if (input.tools.length > 0) throw badInput("This agent takes no tools");
  const { state } = input;
  if (state !== undefined && !(isObject(state) && Object.keys(state).length === 0))
    throw badInput("This agent takes no state");
  const last = input.messages.findLast((message) => message.role === "user");
  if (last === undefined) throw badInput("A message of a user is required");
  if (typeof last.content === "string") return last.content;
  const parts = last.content.map((part) => (part.type === "text" ? String(part.text) : undefined));
  if (parts.includes(undefined)) throw badInput("This agent takes text only");
  return parts.join("");
}
