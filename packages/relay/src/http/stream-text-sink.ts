import type { RelayErrorCode } from "@human-plus/core/protocol";
import type { StreamSink } from "../broker/sinks.ts";
import { encodeFrame, encodeGap, encodeOpening, encodeStreamError, keepAliveComment } from "./event-stream-text.ts";

/** A stream sink that says everything as event stream text; a binding adds how text is written. */
export abstract class StreamTextSink implements StreamSink {
  /** Writes text. @returns whether more is wanted now */
  protected abstract write(text: string): boolean;
  /** Sends the head of the answer, then the first text. */
  protected abstract begin(text: string): boolean;
  protected abstract finish(): void;
  abstract cut(): void;
  abstract isOpen(): boolean;

  open(cursor: string | undefined): boolean {
    return this.begin(encodeOpening(cursor));
  }

  frame(cursor: string, text: string): boolean {
    return this.write(encodeFrame(cursor, text));
  }

  gap(cursor: string): boolean {
    return this.write(encodeGap(cursor));
  }

  keepAlive(): boolean {
    return this.write(keepAliveComment);
  }

  end(reason: RelayErrorCode | undefined): void {
    if (reason !== undefined) this.write(encodeStreamError(reason));
    this.finish();
  }
}
