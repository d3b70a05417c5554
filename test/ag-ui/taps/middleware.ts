// Stands in tests where `@human-plus/adapter-ag-ui/middleware` is imported: the same, and what comes out of each run is recorded.
import type { AbstractAgent, BaseEvent, RunAgentInput } from "@ag-ui/client";
import type { AgUiRunInput } from "@human-plus/adapter-ag-ui";
import { SurfaceMiddleware as Unrecorded } from "@human-plus/adapter-ag-ui/middleware";
import { Observable } from "rxjs";
import { end, record } from "./recordings.ts";

// biome-ignore lint/performance/noReExportAll: it stands for the whole entry, whatever that exports
export * from "@human-plus/adapter-ag-ui/middleware";

export class SurfaceMiddleware extends Unrecorded {
  override run(input: RunAgentInput, next: AbstractAgent): Observable<BaseEvent> {
    const events = super.run(input, next);
    return new Observable((subscriber) => {
      const chunks: Uint8Array[] = [];
      const recording = record({
        input: structuredClone(input) as unknown as AgUiRunInput,
        contentType: "text/event-stream",
        chunks,
        state: "open",
      });
      const running = events.subscribe({
        next(event) {
          chunks.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
          subscriber.next(event);
        },
        error(error) {
          end(recording, "broken");
          subscriber.error(error);
        },
        complete() {
          end(recording, "ended");
          subscriber.complete();
        },
      });
      return () => {
        end(recording, "left");
        running.unsubscribe();
      };
    });
  }
}
