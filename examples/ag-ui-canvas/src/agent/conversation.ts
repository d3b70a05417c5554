import type { RunAgentInput } from "@ag-ui/client";
import type { JsonObject } from "@human-plus/core";

/** What was asked last, and what was done for it so far. */
export interface Exchange {
  readonly request: string;
  readonly calls: readonly MadeCall[];
}

export interface MadeCall {
  /** The surface's name of the tool. */
  readonly tool: string;
  readonly args: JsonObject;
  /** What the model reads of its result. */
  readonly answer: string;
}

/** Reads a history as a model does: the last request of a person, and the calls since. Calls without an answer are left out. */
export function latestExchange(messages: RunAgentInput["messages"], prefix: string): Exchange {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const since = messages.slice(asked + 1);
  const answers = new Map(since.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message]] : [])));
  const made = since.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
  const calls = made.flatMap(({ id, function: { name, arguments: args } }) => {
    const answer = answers.get(id)?.content;
    if (typeof answer !== "string" || !name.startsWith(prefix)) return [];
    return [{ tool: name.slice(prefix.length), args: parseObject(args) ?? {}, answer }];
  });
  return { request: textOf(messages[asked]), calls };
}

function textOf(message: RunAgentInput["messages"][number] | undefined): string {
  const content = message?.role === "user" ? message.content : "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

/** The JSON object inside the frame that core puts around what a surface says. */
export function framedObject(answer: string): JsonObject | undefined {
  const [, data] = /^<surface-data [^\n]*\n[^\n]*\n([\s\S]*)\n<\/surface-data /m.exec(answer) ?? [];
  return parseObject(data ?? "");
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
