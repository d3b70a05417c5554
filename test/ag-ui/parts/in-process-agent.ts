import { AbstractAgent, type BaseEvent, type RunAgentInput } from "@ag-ui/client";
import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";
import type { SurfaceMiddleware } from "@human-plus/adapter-ag-ui/middleware";
import { Observable } from "rxjs";
import { completeInput } from "../judge.ts";

/** What an agent says in its run number `turn`, in one go: anything at all, as agents in one's own process may. */
export type Speech = (input: RunAgentInput, turn: number) => readonly unknown[];

/** An agent in one process with its host: nothing that it says was looked at by a transport. */
export class InProcessAgent extends AbstractAgent {
  readonly inputs: RunAgentInput[] = [];
  readonly #speech: Speech;

  constructor(speech: Speech) {
    super();
    this.#speech = speech;
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    return new Observable((subscriber) => {
      this.inputs.push(input);
      for (const event of this.#speech(input, this.inputs.length)) subscriber.next(event as BaseEvent);
      subscriber.complete();
    });
  }
}

export interface InProcessRun {
  readonly types: readonly string[];
  /** Contents of answers, by call. */
  readonly answers: Readonly<Record<string, string>>;
  readonly error: unknown;
}

type Said = BaseEvent & { toolCallId?: string; content?: string };

/** Runs an agent with a surface, as a host without a pipeline does: no client corrects what comes out. */
export function runInProcess(
  middleware: SurfaceMiddleware,
  agent: AbstractAgent,
  input: Partial<AgUiRunInput> = {},
): Promise<InProcessRun> {
  const types: string[] = [];
  const answers: Record<string, string> = {};
  return new Promise((resolve) => {
    const end = (error?: unknown) => resolve({ types, answers, error });
    middleware.run(completeInput(input) as unknown as RunAgentInput, agent).subscribe({
      next(event) {
        const { toolCallId = "", content = "" } = event as Said;
        if (!String(event.type).startsWith("ACTIVITY_")) types.push(String(event.type));
        if (String(event.type) === "TOOL_CALL_RESULT") answers[toolCallId] = content;
      },
      error: end,
      complete: () => end(),
    });
  });
}
