import type { ContentPart, JsonObject } from "@human-plus/core/protocol";
import type { Change } from "./change.ts";
import type { Touches } from "./touch.ts";
import type { UndoOutcome } from "./undo.ts";

/** What a handler gives: text, or parts and data. Nothing is an empty result. */
export type ToolOutput =
  | string
  | undefined
  | {
      /** What the agent reads. @default the structured content as JSON text */
      content?: string | ContentPart[] | undefined;
      /** The result as data. */
      structuredContent?: JsonObject | undefined;
      /** The tool failed, and says how. @default false */
      isError?: boolean | undefined;
    };

export interface CommitOptions {
  /** Takes the commit back, in one tick. Without it the commit cannot be undone. */
  undo?: (() => void) | undefined;
}

/** What every handler is given beside its arguments. */
interface RunningCall {
  /** The name of the tool. */
  readonly tool: string;
  /** Who calls, if the agent says so. For the application; never shown to other agents. */
  readonly participantId: string | undefined;
  /** Aborts when the agent cancels. After that, nothing can be committed or proposed. */
  readonly signal: AbortSignal;
  /** The agent says what it has read. Without a pin, nothing stands against the call. */
  readonly pinned: boolean;
  /** Tells the agent how far the call is, if it asked for that. Steps that do not grow are left out. */
  progress(progress: number, options?: { total?: number | undefined; message?: string | undefined }): void;
  /** Throws if something the call touches changed since its pin. `commit` does this by itself. @throws StalePinError */
  assertFresh(): void;
}

/** A call that may write. */
export interface Call extends RunningCall {
  /**
   * The only way to change state in a handler: checks the pin, runs `apply` and records the changes, all in one tick.
   * After an `await`, commit again: it checks again. If `apply` throws, nothing is recorded; it must then have changed
   * nothing.
   *
   * @throws StalePinError if something the call touches changed since its pin: let it through, the agent is told
   */
  commit<T>(changes: Change | readonly Change[], apply: () => T, options?: CommitOptions): T;
  /** Takes back the caller's own latest change. */
  undo(): UndoOutcome;
}

/** A call that may only propose. */
export interface StagedCall extends RunningCall {
  /** Proposes a commit, once. Nothing is applied before a person accepts, and then only if the pin still holds. */
  propose(changes: Change | readonly Change[], apply: () => void, options?: ProposeOptions): void;
}

export interface ProposeOptions extends CommitOptions {
  /** What it would do, in plain words, for people: cut to 256 characters. @default the name of the tool */
  summary?: string | undefined;
}

interface ToolDefinition<A> {
  /** 1 to 128 ASCII letters, digits and `_ . : -`; names that end in a word of confirmation belong to people. */
  name: string;
  /** A name for people. */
  title?: string | undefined;
  /** What it does, for the model. At most 16 KiB. */
  description?: string | undefined;
  /** JSON Schema of the arguments. It is told to agents, not enforced: see `parse`. @default {type: "object"} */
  inputSchema?: JsonObject | undefined;
  /** Hints about its effects, for agents. */
  annotations?: JsonObject | undefined;
  /**
   * What a call works on: handles, everything, or nothing. A pinned call is refused only if something it touches
   * changed since its pin. The handles its changes name always count. @default "all"
   */
  touches?: Touches | ((args: A) => Touches) | undefined;
  /**
   * Whether a result shows the agent the whole state, so that its marker moves on to now. Say `false` for a tool that
   * shows only a part. @default true if the call wrote nothing and touches "none" or "all"
   */
  showsState?: boolean | undefined;
  /** Checks the arguments; what it throws refuses the call. A ToolError's message goes to the agent. @default as they came */
  parse?: ((args: JsonObject) => A) | undefined;
}

export interface WritingTool<A> extends ToolDefinition<A> {
  stage?: false | undefined;
  handler(args: A, call: Call): ToolOutput | Promise<ToolOutput>;
}

export interface StagedTool<A> extends ToolDefinition<A> {
  /** The tool only proposes; a person decides in the application. */
  stage: true;
  handler(args: A, call: StagedCall): ToolOutput | Promise<ToolOutput>;
}

export type ToolOptions<A = JsonObject> = WritingTool<A> | StagedTool<A>;
