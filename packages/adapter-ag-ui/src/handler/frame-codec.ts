import { encode } from "../bounded-json.ts";
import type { AgUiEvent } from "../events.ts";

/** How events are written into a body. */
export interface FrameCodec {
  readonly contentType: string;
  frame(event: AgUiEvent, text: string): Uint8Array<ArrayBuffer>;
  /** Keeps proxies from taking a quiet run for a dead one. */
  readonly ping: Uint8Array<ArrayBuffer> | undefined;
}

/** Frames end with LF LF: clients split there and nowhere else. */
const sse: FrameCodec = {
  contentType: "text/event-stream; charset=utf-8",
  frame: (_event, text) => encode(`data: ${text}\n\n`),
  ping: encode(": ping\n\n"),
};

const protobufMediaType = "application/vnd.ag-ui.event+proto";

/** As much of `@ag-ui/encoder` as is needed. */
export interface EncoderModule {
  EventEncoder: new (options: { accept: string }) => { encodeBinary(event: never): Uint8Array };
}

/**
 * The codec that a request asked for by name: its `Accept` names the media type, and no wildcard counts. Clients before 1.0
 * cannot read most events in it, so they get SSE, and so does everybody where the encoder is not installed.
 */
export async function codecFor(
  request: Request,
  isCurrent: boolean,
  encoder: () => Promise<EncoderModule>,
): Promise<FrameCodec> {
  const accepted = (request.headers.get("accept") ?? "").split(",").map((type) => type.split(";")[0]?.trim());
  if (!isCurrent || !accepted.includes(protobufMediaType)) return sse;
  try {
    const { EventEncoder } = await encoder();
    const binary = new EventEncoder({ accept: protobufMediaType });
    return {
      contentType: protobufMediaType,
      frame: (event) => new Uint8Array(binary.encodeBinary(event as never)),
      ping: undefined,
    };
  } catch {
    return sse;
  }
}

/** `@ag-ui/encoder`, if it is there. Bundlers do not look for it by this. */
export function installedEncoder(): Promise<EncoderModule> {
  const name: string = "@ag-ui/encoder";
  return import(/* @vite-ignore */ name) as Promise<EncoderModule>;
}
