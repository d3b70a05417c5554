import type { Message, Tool, ToolCall } from "./shapes.ts";

/** One turn of a model: words, calls of tools, or both. */
export interface ModelTurn {
  readonly text?: string;
  readonly calls?: readonly { id: string; name: string; arguments?: unknown }[];
}

/** What a provider sends: the messages as text, and the tools as they were when the run began. */
export interface ProviderRequest {
  readonly messages: readonly { role: Message["role"]; text: string; toolCallId?: string }[];
  readonly tools: readonly { name: string; description: string | undefined; parameters: unknown }[];
}

export interface Provider {
  turn(messages: readonly Message[], tools: readonly Tool[], signal: AbortSignal): Promise<ModelTurn>;
}

export interface ScriptedProvider extends Provider {
  /** What the model was shown, turn by turn. */
  readonly requests: readonly ProviderRequest[];
  /** What the model read of a call, in the last request that has it. */
  read(toolCallId: string): string | undefined;
}

type Step = ModelTurn | ((request: ProviderRequest) => ModelTurn | Promise<ModelTurn>);

export interface ScriptedProviderOptions {
  /** As the AI SDK's provider: it throws for a tool message with any block beside the result. @default false */
  refusesContent?: boolean;
}

/** A model that does as a test says, turn by turn; after the last it says that it is done. */
export function createScriptedProvider(
  steps: readonly Step[],
  { refusesContent = false }: ScriptedProviderOptions = {},
): ScriptedProvider {
  const requests: ProviderRequest[] = [];
  return {
    requests,
    read(toolCallId) {
      for (const { messages } of requests.toReversed()) {
        const found = messages.find((message) => message.toolCallId === toolCallId);
        if (found !== undefined) return found.text;
      }
      return undefined;
    },
    async turn(messages, tools, signal) {
      signal.throwIfAborted();
      const request = {
        messages: messages.map((message) => serialise(message, refusesContent)),
        tools: tools.map(({ name, description, parameters = { type: "object" } }) => ({
          name,
          description,
          parameters,
        })),
      };
      const step = steps[requests.length] ?? { text: "done" };
      requests.push(structuredClone(request));
      return typeof step === "function" ? step(request) : step;
    },
  };
}

/** Of a tool message nearly every provider sends the value, or else the error, as JSON: content alone becomes `null`. */
function serialise({ role, content }: Message, refusesContent: boolean): ProviderRequest["messages"][number] {
  const [first, ...rest] = content;
  if (first === undefined || first.type !== "tool_result" || !("toolCallId" in first)) {
    return { role, text: content.map((block) => ("text" in block ? block.text : JSON.stringify(block))).join("\n") };
  }
  if (refusesContent && rest.length > 0) {
    const error = new Error(`the provider does not support content type "${rest[0]?.type}" on tool messages`);
    error.name = "AiSdkProviderError";
    throw error;
  }
  const { result, error, toolCallId } = first;
  return { role, text: JSON.stringify(result ?? error ?? null), toolCallId };
}

export const callsOf = ({ calls = [] }: ModelTurn): ToolCall[] =>
  calls.map(({ id, name, arguments: args = {} }) => ({ type: "tool_call", id, name, arguments: args }));
