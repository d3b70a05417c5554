import { type AbstractAgent, type BaseEvent, Middleware, type RunAgentInput } from "@ag-ui/client";
import { filter, Observable } from "rxjs";
import type { AgentProblems } from "./agent-problems.ts";
import { readSettings, type SurfaceMiddlewareConfig, type SurfaceSettings } from "./settings.ts";
import { SurfaceRun } from "./surface-run.ts";
import { SurfaceViews } from "./surface-view.ts";

/**
 * Gives an agent a live surface: `agent.use(new SurfaceMiddleware({ surface: session }))`. One instance serves all clones,
 * threads and users of an agent at the same time; what runs share is kept by session and thread.
 */
export class SurfaceMiddleware extends Middleware {
  readonly #settings: SurfaceSettings;
  readonly #views: SurfaceViews;

  /** @throws HumanPlusError `invalid_argument` that names the member */
  constructor(config: SurfaceMiddlewareConfig) {
    super();
    this.#settings = readSettings(config);
    const { feed, shows, maxSurfaces, maxThreads } = this.#settings;
    this.#views = new SurfaceViews({ projector: shows ? feed : { ...feed, activity: false }, maxSurfaces, maxThreads });
  }

  override run(input: RunAgentInput, next: AbstractAgent): Observable<BaseEvent> {
    return new Observable((subscriber) => {
      const runNext = (inner: RunAgentInput, problems: AgentProblems) =>
        this.runNext(
          inner,
          checked(next, (event) => problems.check(event)),
        );
      const run = new SurfaceRun({ settings: this.#settings, views: this.#views, input, runNext }, subscriber);
      run.start();
      return () => run.stop();
    });
  }

  /** Lets go of every surface. Sessions stay attached; runs that are under way go on without news. */
  close(): void {
    this.#views.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** What expands chunks drops what it does not know, or fails on it: so events are looked at before. It calls `run`, and nothing else. */
function checked(next: AbstractAgent, check: (event: BaseEvent) => boolean): AbstractAgent {
  const run = (input: RunAgentInput) => next.run(input).pipe(filter(check));
  return { run } as unknown as AbstractAgent;
}
