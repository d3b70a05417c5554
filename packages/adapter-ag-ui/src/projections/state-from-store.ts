import { invalidArgument, requireInteger } from "../argument.ts";
import { isObject, toJson } from "../bounded-json.ts";
import type { AgUiEvent, AgUiJson } from "../events.ts";
import { diffJson } from "../json-patch.ts";
import type { Projection, ProjectionLeg, ProjectionRun } from "../projection.ts";

export interface StateFromStoreOptions {
  /** What shared state is now, as it may be shown: an object of JSON. It takes the place of what the client had before the run. */
  get: (run: { readonly threadId: string; readonly runId: string }) => unknown;
  /** Tells of changes. Gives back what ends that. @default the store is asked after each event of the run */
  subscribe?: ((onChange: () => void) => () => void) | undefined;
  /** UTF-8 bytes of it as JSON: 16 to 1,048,576. What is larger is not shown. @default 65_536 */
  maxStateBytes?: number | undefined;
  /** Above so many operations, 1 to 4,096, a snapshot is sent. @default 128 */
  maxPatchOperations?: number | undefined;
}

/**
 * Shows a store as shared state: a snapshot as a run begins, then what changes. Lists are replaced whole, and what others put
 * beside it stays.
 *
 * @throws HumanPlusError `invalid_argument` that names the option
 */
export function createStateFromStoreProjection({
  maxStateBytes = 65_536,
  maxPatchOperations = 128,
  ...options
}: StateFromStoreOptions): Projection {
  if (typeof options.get !== "function") throw invalidArgument("get should be a function");
  requireInteger("maxStateBytes", maxStateBytes, { min: 16, max: 1_048_576 });
  requireInteger("maxPatchOperations", maxPatchOperations, { min: 1, max: 4_096 });
  return { open: (run) => new StoreState(run, options, maxStateBytes, maxPatchOperations) };
}

class StoreState implements ProjectionLeg {
  readonly #run: ProjectionRun;
  readonly #get: StateFromStoreOptions["get"];
  readonly #maxStateBytes: number;
  readonly #maxPatchOperations: number;
  readonly #unsubscribe: (() => void) | undefined;
  /** What the client has, and nothing before the first snapshot. */
  #shown: AgUiJson | undefined;
  /** What somebody else made of shared state, which is to be kept. */
  #found: AgUiJson | undefined;

  constructor(
    run: ProjectionRun,
    { get, subscribe }: Pick<StateFromStoreOptions, "get" | "subscribe">,
    maxStateBytes: number,
    maxPatchOperations: number,
  ) {
    this.#run = run;
    this.#get = get;
    this.#maxStateBytes = maxStateBytes;
    this.#maxPatchOperations = maxPatchOperations;
    this.#unsubscribe = subscribe?.(() => run.onReady());
  }

  take(): AgUiEvent[] {
    const { threadId, runId } = this.#run;
    const state = toJson(this.#get({ threadId, runId }), this.#maxStateBytes, storeBounds);
    if (!isObject(state)) return [];
    const before = this.#found ?? this.#shown;
    const after = isObject(this.#found) ? { ...this.#found, ...state } : state;
    const delta = before === undefined ? [] : diffJson(before, after);
    this.#shown = state;
    this.#found = undefined;
    if (before === undefined || delta.length > this.#maxPatchOperations)
      return [{ type: "STATE_SNAPSHOT", snapshot: after }];
    return delta.length === 0 ? [] : [{ type: "STATE_DELTA", delta }];
  }

  saw(event: AgUiEvent): void {
    if (event.type === "STATE_SNAPSHOT") this.#found = event.snapshot;
    if (this.#unsubscribe === undefined || this.#found !== undefined) this.#run.onReady();
  }

  close(): void {
    this.#unsubscribe?.();
  }
}

/** The handler's own limits are stricter, and hold for it as for all events. */
const storeBounds = { maxJsonDepth: 64, maxJsonProperties: 4_096, maxJsonArrayItems: 8_192 };
