import type { ChangeRow } from "@human-plus/core/protocol";

/** Thrown by a handler: its message goes to the agent. The message of any other error stays in the application. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Something that the call touches changed since its pin. Nothing was written by the commit that threw it. */
export class StalePinError extends Error {
  override readonly name = "StalePinError";
  /** What stands against the call, hands relative to the caller. */
  readonly changes: readonly ChangeRow[];
  /** The rows are all there is. */
  readonly complete: boolean;

  constructor(changes: readonly ChangeRow[], complete: boolean) {
    super("What the call touches changed after the revision it was pinned to.");
    this.changes = changes;
    this.complete = complete;
  }
}
