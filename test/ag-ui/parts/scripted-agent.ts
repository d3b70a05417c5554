import { text as readText } from "node:stream/consumers";
import type { AgUiEvent, AgUiRunInput } from "@human-plus/adapter-ag-ui";
import { type RunningServer, serve } from "./serve.ts";

/** What an agent does in its run number `turn`, having seen the input. Its start and end are added, unless it says `raw`. */
export type Script = (input: AgUiRunInput, turn: number) => ScriptedTurn | Promise<ScriptedTurn>;
export type ScriptedTurn = readonly object[] | { readonly raw: readonly object[]; readonly stays?: boolean };

/** An agent behind a real socket, whose model is a script. */
export interface ScriptedAgent extends RunningServer {
  /** What it was told, run by run. */
  readonly inputs: AgUiRunInput[];
  /** Resolves once the client of a run is gone. */
  readonly left: Promise<void>;
}

export async function startScriptedAgent(script: Script): Promise<ScriptedAgent> {
  const inputs: AgUiRunInput[] = [];
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const server = await serve(async (request, response) => {
    const input = JSON.parse(await readText(request)) as AgUiRunInput;
    inputs.push(input);
    response.once("close", () => {
      if (!response.writableFinished) leave();
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const { threadId, runId } = input;
    const said = await script(input, inputs.length);
    const events =
      "raw" in said
        ? said.raw
        : [{ type: "RUN_STARTED", threadId, runId }, ...said, { type: "RUN_FINISHED", threadId, runId }];
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (!("raw" in said && said.stays === true)) response.end();
  });
  return { ...server, inputs, left };
}

/** One whole message of an assistant. */
export function says(messageId: string, delta: string): AgUiEvent[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

/** One whole call of a tool, its arguments in two parts. */
export function calls(toolCallId: string, toolCallName: string, args: object | string = {}): AgUiEvent[] {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const [head, tail] = [text.slice(0, 3), text.slice(3)];
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: head },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: tail },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}
