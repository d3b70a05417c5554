import { eventStream, limits, type RelayErrorCode } from "@human-plus/core/protocol";

/** Headers of an event stream. PROTOCOL.md section 2.2. */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": eventStream.contentType,
  ...eventStream.headers,
  "x-content-type-options": "nosniff",
};

/** The begin of a stream. A block that holds only an id dispatches nothing, and gives the reader a cursor to come back with. */
export function encodeOpening(cursor: string | undefined): string {
  return cursor === undefined ? `retry: ${limits.sseRetryMs}\n\n` : `retry: ${limits.sseRetryMs}\nid: ${cursor}\n\n`;
}

/** @param text JSON text without line breaks */
export function encodeFrame(cursor: string, text: string): string {
  return `id: ${cursor}\nevent: ${eventStream.frameEvent}\ndata: ${text}\n\n`;
}

export function encodeGap(cursor: string): string {
  return `id: ${cursor}\nevent: ${eventStream.gapEvent}\ndata: {}\n\n`;
}

export function encodeStreamError(reason: RelayErrorCode): string {
  return `event: ${eventStream.errorEvent}\ndata: ${reason}\n\n`;
}

export const keepAliveComment = ": keepalive\n\n";
