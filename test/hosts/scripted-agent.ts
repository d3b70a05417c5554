import { AbstractAgent, type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/client";
import { from, type Observable } from "rxjs";

/** What a model would do next, having seen the input of one run. */
export type Script = (input: RunAgentInput) => BaseEvent[];

/** An agent whose model is a script. What it was told is kept for the test to look at. */
export class ScriptedAgent extends AbstractAgent {
  /** Shared by the clones that a host makes for each of its requests. */
  readonly inputs: RunAgentInput[] = [];
  readonly script: Script;

  constructor(script: Script) {
    super({ agentId: "default" });
    this.script = script;
  }

  run(input: RunAgentInput): Observable<BaseEvent> {
    this.inputs.push(structuredClone(input));
    const { threadId, runId } = input;
    const ids = { threadId, runId };
    const started = { type: EventType.RUN_STARTED, ...ids } as BaseEvent;
    const finished = { type: EventType.RUN_FINISHED, ...ids } as BaseEvent;
    return from([started, ...this.script(input), finished]);
  }

  override clone(): this {
    return Object.assign(super.clone(), { inputs: this.inputs, script: this.script });
  }
}

/** The events of one whole message of an assistant. */
export function says(messageId: string, delta: string): BaseEvent[] {
  return [
    { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta },
    { type: EventType.TEXT_MESSAGE_END, messageId },
  ] as BaseEvent[];
}

/** The events of one whole call of a tool. */
export function calls(toolCallId: string, toolCallName: string, args: Record<string, unknown>): BaseEvent[] {
  return [
    { type: EventType.TOOL_CALL_START, toolCallId, toolCallName },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(args) },
    { type: EventType.TOOL_CALL_END, toolCallId },
  ] as BaseEvent[];
}
