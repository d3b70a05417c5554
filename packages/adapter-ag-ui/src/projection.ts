import type { JsonObject } from "@human-plus/core";
import type { AgUiEvent, AgUiInterrupt, AgUiJson, AgUiMessage, AgUiPatchOperation } from "./events.ts";
import type { PrismEvent, PrismEventOf, PrismToolCall, PrismToolResult } from "./handler/prism-events.ts";

export type Awaitable<T> = T | Promise<T>;

/** What a run shows of an activity beside it. */
export type ProjectedActivity =
  | { type: "snapshot"; messageId: string; activityType: string; content: JsonObject; replace?: boolean | undefined }
  | { type: "delta"; messageId: string; activityType: string; patch: readonly AgUiPatchOperation[] };

/** What a projection may say in one run, from `RUN_STARTED` to the terminal event. A `SurfaceStream` is one. */
export interface ProjectionLeg {
  /** What is due. Called after `RUN_STARTED`, after `onReady`, and before the terminal event. */
  take(): Awaitable<readonly AgUiEvent[]>;
  /** Hears each event that somebody else put into the stream. */
  saw?: ((event: AgUiEvent) => void) | undefined;
  /** The run is over. Nothing is called after that. */
  close(): void;
}

/** The run that a leg speaks in. */
export interface ProjectionRun {
  readonly threadId: string;
  readonly runId: string;
  /** What the client has: `messages` of the input. */
  readonly messages: readonly AgUiMessage[];
  /** Shared state as the client has it: `state` of the input. */
  readonly state?: unknown;
  /** Tells that there is something to `take()`. */
  readonly onReady: () => void;
}

/**
 * What of a run leaves: an allow-list, and a member that is absent lets nothing out. Whatever callbacks give is shown to
 * everybody who reads the thread. One that throws, or gives what is no JSON or is over its limit, lets nothing out, and the
 * run goes on. They are called in the order of events, and awaited.
 *
 * `open` works for every run, and a `SurfaceProjector` is a projection by it. The callbacks are for runs of Prism events: a
 * run of AG-UI events says itself what leaves.
 */
export interface Projection {
  /** Speaks in a run by itself. Called once for each run, after it is authorized. */
  open?: ((run: ProjectionRun) => ProjectionLeg | undefined) | undefined;
  /** The arguments of a call, as the text of a JSON object. Without it they are `{}`. */
  toolArguments?: ((call: PrismToolCall) => Awaitable<string | undefined>) | undefined;
  /** The content of a result. Without it there is a word: `completed`, `failed` or `blocked`. */
  toolResult?: ((result: PrismToolResult) => Awaitable<unknown>) | undefined;
  /** What `humanplus.run` says of a run that is suspended, resumed or denied, beside status and version. */
  state?: ((event: PrismEvent) => Awaitable<AgUiJson | undefined>) | undefined;
  stateSnapshot?: ((event: PrismEvent) => Awaitable<AgUiJson | undefined>) | undefined;
  stateDelta?: ((event: PrismEvent) => Awaitable<readonly AgUiPatchOperation[] | undefined>) | undefined;
  messages?: ((event: PrismEvent) => Awaitable<readonly AgUiMessage[] | undefined>) | undefined;
  activity?: ((event: PrismEvent) => Awaitable<ProjectedActivity | undefined>) | undefined;
  /** What a model thought. */
  reasoning?:
    | ((
        thinking: { readonly text: string; readonly signature?: string | undefined },
        event: PrismEvent,
      ) => Awaitable<{ text?: string | undefined; encryptedValue?: string | undefined } | undefined>)
    | undefined;
  raw?: ((event: PrismEvent) => Awaitable<{ event: AgUiJson; source?: string | undefined } | undefined>) | undefined;
  /** The name carries the vendor's prefix. */
  custom?: ((event: PrismEvent) => Awaitable<{ name: string; value: AgUiJson } | undefined>) | undefined;
  /** What a person is asked. The list has to hold the id `<runId>:<version>` that the handler gave. */
  interrupt?:
    | ((
        event: PrismEventOf<"agent_suspended">,
        interrupt: AgUiInterrupt,
      ) => Awaitable<readonly AgUiInterrupt[] | undefined>)
    | undefined;
}
