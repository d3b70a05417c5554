import type { JsonObject } from "@human-plus/core";
import { isObject, type JsonObjectLike } from "../bounded-json.ts";
import type { AgUiContentPart, AgUiMessage, AgUiToolCall } from "../events.ts";
import { isIdentifier } from "../identifier.ts";
import { assertFits, readEach } from "./input-lists.ts";
import type { Limits } from "./limits.ts";
import { badInput, invalid, overLimit } from "./refusal.ts";

/**
 * Reads the messages of one input.
 *
 * @param options Whether activities are read. They are for people, and clients leave them out of what they send.
 * @throws AgUiRefusal 400 or 413
 */
export function readMessages(
  list: unknown,
  limits: Limits,
  { activities = false }: { readonly activities?: boolean } = {},
): AgUiMessage[] {
  let mediaParts = 0;

  function readMessage(message: JsonObjectLike): AgUiMessage | undefined {
    const { role, content, error, encryptedValue, activityType } = message;
    const id = requireIdentifier("message id", message["id"]);
    const name = typeof message["name"] === "string" ? { name: bounded(message["name"]) } : {};
    switch (role) {
      case "user":
        return {
          id,
          role,
          content: Array.isArray(content) ? readEach("content", content, part) : text(content),
          ...name,
        };
      case "developer":
      case "system":
        return { id, role, content: text(content), ...name };
      case "assistant": {
        const toolCalls = readEach("toolCalls", message["toolCalls"] ?? [], toolCall);
        return {
          id,
          role,
          ...(content === undefined || content === null ? {} : { content: text(content) }),
          ...name,
          ...(toolCalls.length === 0 ? {} : { toolCalls }),
        };
      }
      case "tool":
        return {
          id,
          role,
          toolCallId: requireIdentifier("tool result id", message["toolCallId"]),
          content: text(content),
          ...(typeof error === "string" ? { error: bounded(error) } : {}),
        };
      case "reasoning": {
        const value = typeof encryptedValue === "string" ? { encryptedValue: bounded(encryptedValue) } : {};
        return { id, role, content: text(content ?? ""), ...value };
      }
      case "activity":
        if (!activities) return undefined;
        if (typeof activityType !== "string" || !isObject(content)) throw invalid("activity");
        return { id, role, activityType, content: content as JsonObject };
      default:
        throw invalid("role");
    }
  }

  function toolCall({ id, function: made }: JsonObjectLike): AgUiToolCall {
    const { name, arguments: args } = isObject(made) ? made : {};
    if (typeof name !== "string" || typeof args !== "string") throw invalid("function");
    return {
      id: requireIdentifier("tool call id", id),
      type: "function",
      function: { name: bounded(name), arguments: bounded(args) },
    };
  }

  /** What a part is for is the host's matter, and kinds that it does not know are for it to skip. */
  function part(given: JsonObjectLike): AgUiContentPart {
    const { type, text: words } = given;
    if (type === "text" && typeof words === "string") return { type, text: bounded(words) };
    if (type === "text" || typeof type !== "string") throw invalid("part");
    mediaParts++;
    if (mediaParts > limits.maxInputMediaParts) throw overLimit("The number of media parts", "maxInputMediaParts");
    assertFits("A media part", JSON.stringify(given), limits, "maxInputMediaBytes");
    return given as AgUiContentPart;
  }

  /** A text, or the text of parts. */
  function text(content: unknown): string {
    if (typeof content === "string") return bounded(content);
    const parts = readEach("content", content, part);
    return bounded(parts.map((each) => (each.type === "text" ? each.text : "")).join(""));
  }

  function bounded(words: string): string {
    assertFits("A text", words, limits, "maxInputTextBytes");
    return words;
  }

  return readEach("messages", list, readMessage).filter((message) => message !== undefined);
}

/** @throws AgUiRefusal 400 */
export function requireIdentifier(name: string, value: unknown, maxLength?: number): string {
  if (isIdentifier(value, maxLength)) return value;
  throw invalid(name);
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
