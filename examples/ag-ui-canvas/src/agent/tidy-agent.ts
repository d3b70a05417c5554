import { AbstractAgent, type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/client";
import { from, type Observable } from "rxjs";
import { latestExchange } from "./conversation.ts";
import { type Move, nextMove } from "./next-move.ts";

export interface TidyAgentOptions {
  /** Begins the names of the canvas's tools. */
  toolPrefix: string;
  /** Called between telling of a move and making it: time to tell people, and for them to follow. */
  beforeMove: (threadId: string, move: Move) => Promise<void>;
}

/** An AG-UI agent as anybody would write one, but that its model is a script. It knows nothing of relays and sessions. */
export class TidyAgent extends AbstractAgent {
  readonly #options: TidyAgentOptions;

  constructor(options: TidyAgentOptions) {
    super({ agentId: "tidy", description: "Lines up cards, and proposes what to delete." });
    this.#options = options;
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    return from(this.#events(input));
  }

  async *#events(input: RunAgentInput): AsyncGenerator<BaseEvent> {
    const { threadId, runId } = input;
    yield event(EventType.RUN_STARTED, { threadId, runId });
    const move = this.#next(input);
    if (move.type === "call") {
      yield event(EventType.STEP_STARTED, { stepName: move.step });
      yield* toolCall(`${this.#options.toolPrefix}${move.tool}`, move.args);
    }
    await this.#options.beforeMove(threadId, move);
    if (move.type === "call") yield event(EventType.STEP_FINISHED, { stepName: move.step });
    else yield* speech(move.text);
    yield event(EventType.RUN_FINISHED, { threadId, runId });
  }

  #next({ messages, tools }: RunAgentInput): Move {
    const { toolPrefix } = this.#options;
    const offered = (tool: string) => tools?.some(({ name }) => name === `${toolPrefix}${tool}`) === true;
    const move = nextMove(latestExchange(messages, toolPrefix));
    if (move.type === "say" || offered(move.tool)) return move;
    return { type: "say", text: "I cannot reach the canvas. Open it in a browser, and ask me again." };
  }
}

function event(type: EventType, fields: object): BaseEvent {
  return { type, ...fields } as BaseEvent;
}

function* speech(text: string): Generator<BaseEvent> {
  const messageId = crypto.randomUUID();
  yield event(EventType.TEXT_MESSAGE_START, { messageId, role: "assistant" });
  for (const delta of text.match(/\S+\s*/g) ?? []) yield event(EventType.TEXT_MESSAGE_CONTENT, { messageId, delta });
  yield event(EventType.TEXT_MESSAGE_END, { messageId });
}

function* toolCall(toolCallName: string, args: object): Generator<BaseEvent> {
  const toolCallId = crypto.randomUUID();
  yield event(EventType.TOOL_CALL_START, { toolCallId, toolCallName });
  yield event(EventType.TOOL_CALL_ARGS, { toolCallId, delta: JSON.stringify(args) });
  yield event(EventType.TOOL_CALL_END, { toolCallId });
}
