import { type AbstractAgent, type BaseEvent, Middleware, type RunAgentInput } from "@ag-ui/client";
import { Observable } from "rxjs";
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
      const runNext = (inner: RunAgentInput) => this.runNext(inner, next);
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
