import type { SurfaceSession } from "@human-plus/core";
import { type ObservedSession, observeSession } from "../feed/observe-session.ts";
import {
  createSurfaceProjector,
  type SurfaceProjector,
  type SurfaceProjectorOptions,
} from "../projector/surface-projector.ts";
import { RecentMap } from "../recent-map.ts";
import { MissingTools } from "./missing-tools.ts";
import { ThreadMemory } from "./thread-memory.ts";

/** What the middleware keeps of one session: a feed, what is shown of it, and its threads. */
export interface SurfaceView {
  readonly session: ObservedSession;
  readonly projector: SurfaceProjector;
  /** Names in the option `tools` that nothing has. */
  readonly missing: MissingTools;
  thread(threadId: string): ThreadMemory;
  close(): void;
}

export interface SurfaceViewsOptions {
  readonly projector: Omit<SurfaceProjectorOptions, "surface">;
  readonly maxSurfaces: number;
  readonly maxThreads: number;
}

/** The views of all sessions in use. Sessions that are different objects never share anything. */
export class SurfaceViews {
  readonly #options: SurfaceViewsOptions;
  readonly #views: RecentMap<SurfaceSession, SurfaceView>;

  constructor(options: SurfaceViewsOptions) {
    this.#options = options;
    this.#views = new RecentMap(options.maxSurfaces, (view) => view.close());
  }

  get(session: SurfaceSession): SurfaceView {
    const known = this.#views.get(session);
    if (known !== undefined) return known;
    const view = createView(session, this.#options);
    this.#views.set(session, view);
    return view;
  }

  close(): void {
    for (const view of this.#views.values()) view.close();
    for (const session of [...this.#views.keys()]) this.#views.delete(session);
  }
}

function createView(session: SurfaceSession, { projector: options, maxThreads }: SurfaceViewsOptions): SurfaceView {
  const observed = observeSession(session);
  const projector = createSurfaceProjector({ ...options, surface: observed });
  const threads = new RecentMap<string, ThreadMemory>(maxThreads, (memory) => memory.close());
  const stop = observed.observe((occurrence) => {
    if (occurrence.type !== "proposal" || occurrence.standing === "proposed") return;
    const { standing: state, reason, proposalId } = occurrence;
    for (const memory of threads.values()) memory.ended(proposalId, { state, reason });
  });
  return {
    session: observed,
    projector,
    missing: new MissingTools(),
    thread(threadId) {
      const memory = threads.get(threadId) ?? new ThreadMemory();
      threads.set(threadId, memory);
      return memory;
    },
    close() {
      stop();
      projector.close();
      for (const memory of threads.values()) memory.close();
      // Whoever observed it before us goes on.
      if (observed !== session) observed.close();
    },
  };
}
