import type { RelayErrorCode } from "@human-plus/core/protocol";

/** The far end of an event stream, as a binding gives it. Methods that write say whether the sink wants more now. */
export interface StreamSink {
  /**
   * The stream was accepted; called first.
   * @param cursor where the stream begins, so that a reader that loses it before the first frame can resume; absent when frames were lost
   */
  open(cursor: string | undefined): boolean;
  frame(cursor: string, text: string): boolean;
  /** Frames up to the cursor are lost. */
  gap(cursor: string): boolean;
  keepAlive(): boolean;
  /** Ends the stream, and says why if there is a reason. */
  end(reason: RelayErrorCode | undefined): void;
  /** Breaks the connection off. */
  cut(): void;
  /** Whether the reader is still there, as far as is known. */
  isOpen(): boolean;
}

/** The answer to a poll. */
export interface PollBatch {
  /** Frames as JSON text, oldest first. */
  readonly frames: readonly string[];
  /** Where the next poll continues. */
  readonly cursor: string;
  /** Frames before the first one are lost. */
  readonly hasGap: boolean;
  /** Names the poller, in dialect "poll". */
  readonly subscriber: string | undefined;
}

/** The far end of a long poll, as a binding gives it. Exactly one of the first two is called, once. */
export interface PollSink {
  /** Sends all of the answer, and leaves the connection as it is until {@link settle}, so that its close can be seen. */
  answer(batch: PollBatch): void;
  /** The answer counts as read, or as lost: the connection is no longer looked at. */
  settle(): void;
  refuse(reason: RelayErrorCode): void;
  /** Whether the connection is meant to outlive the answer: its close then says that the answer may be lost. */
  outlivesAnswer(): boolean;
  /** Whether the poller is still there, as far as is known. */
  isOpen(): boolean;
}
