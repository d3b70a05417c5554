import type { BaseEvent } from "@ag-ui/client";
import type { Observable } from "rxjs";
import type { AgentProblems } from "./agent-problems.ts";
import type { InnerEvents } from "./inner-events.ts";
import type { RunOutput } from "./run-output.ts";

/** How one inner run ended. */
export type InnerEnd =
  | { readonly type: "finished" | "failed"; readonly event: BaseEvent }
  | { readonly type: "truncated" };

export interface InnerRunOptions {
  readonly output: RunOutput;
  readonly events: InnerEvents;
  readonly problems: AgentProblems;
  readonly signal: AbortSignal;
}

const truncated: InnerEnd = { type: "truncated" };

/**
 * One run of the agent: its events go out as they come, but for its start and its end. What comes after an end is not heard,
 * unless it is another start, or that the run failed after all.
 */
export function runAgent(
  agent: Observable<BaseEvent>,
  { output, events, problems, signal }: InnerRunOptions,
): Promise<InnerEnd> {
  return new Promise((resolve, reject) => {
    let end = truncated;
    const hear = (event: BaseEvent) => {
      const type = String(event.type);
      if (end.type === "failed") return problems.afterEnd(type);
      if (type === "RUN_ERROR") {
        end = { type: "failed", event };
        return resolve(end);
      }
      if (type === "RUN_STARTED") {
        end = truncated;
        return output.begin(event);
      }
      if (end.type === "finished") return problems.afterEnd(type);
      if (type === "RUN_FINISHED") {
        end = { type: "finished", event };
        return;
      }
      events.add(event);
      output.pass(event);
    };
    const stop = () => inner.unsubscribe();
    const inner = agent.subscribe({
      next(event) {
        try {
          hear(event);
        } catch (error) {
          // An observer that throws would end the process.
          reject(error);
          queueMicrotask(stop);
        }
      },
      error: reject,
      complete: () => resolve(end),
    });
    signal.addEventListener("abort", stop);
    inner.add(() => signal.removeEventListener("abort", stop));
    // What says something at once may be given up before it is known here.
    if (signal.aborted) stop();
  });
}
