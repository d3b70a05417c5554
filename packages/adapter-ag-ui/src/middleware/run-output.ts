import type { BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { Subscriber } from "rxjs";
import type { AgUiEvent } from "../events.ts";
import type { SurfaceStream } from "../projector/surface-stream.ts";
import type { ToolAnswer } from "./history.ts";

/** What a host gets of one run: begun once, ended once, under its own ids, whatever happens inside. */
export class RunOutput {
  readonly #subscriber: Subscriber<BaseEvent>;
  readonly #input: RunAgentInput;
  /** What is to be said once the run has begun. */
  readonly #early: BaseEvent[] = [];
  #stream: SurfaceStream | undefined;
  #begun = false;
  #ended = false;

  constructor(subscriber: Subscriber<BaseEvent>, input: RunAgentInput) {
    this.#subscriber = subscriber;
    this.#input = input;
  }

  /** Shows the surface's news from now on, where a run may have them. */
  attach(stream: SurfaceStream): void {
    this.#stream = stream;
    this.news();
  }

  /** Says what the surface's feed has to say. */
  news(): void {
    if (!this.#begun || this.#ended || this.#stream === undefined) return;
    for (const event of this.#stream.take()) this.#subscriber.next(event as unknown as BaseEvent);
  }

  /** The first start is the run's; those of continuations are not. */
  begin(event?: BaseEvent): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#next({ ...(event ?? { type: "RUN_STARTED" }), ...this.#ids() } as BaseEvent);
    for (const early of this.#early.splice(0)) this.#next(early);
    this.news();
  }

  /** An event of the agent. */
  pass(event: BaseEvent): void {
    if (this.#ended) return;
    this.#stream?.saw(event);
    this.#next(event);
  }

  /** The answer to a call. Before the run has begun, it waits. */
  answer({ toolCallId, messageId, content }: ToolAnswer): BaseEvent {
    const result: AgUiEvent = { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" };
    const event = result as unknown as BaseEvent;
    if (this.#begun) this.#next(event);
    else this.#early.push(event);
    return event;
  }

  finish(event: BaseEvent): void {
    this.#end({ ...event, ...this.#ids() } as BaseEvent);
  }

  /** @param event of the agent, or words of ours */
  fail(event: BaseEvent | { message: string; code: string }): void {
    this.#end(("type" in event ? event : { type: "RUN_ERROR", ...event }) as BaseEvent);
  }

  #end(event: BaseEvent): void {
    if (this.#ended) return;
    this.begin();
    this.news();
    this.#next(event);
    this.#ended = true;
    this.#subscriber.complete();
  }

  #ids() {
    const { threadId, runId } = this.#input;
    return { threadId, runId };
  }

  #next(event: BaseEvent): void {
    if (!this.#ended) this.#subscriber.next(event);
  }
}
