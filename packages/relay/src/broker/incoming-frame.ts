import {
  type Frame,
  type RelayErrorCode,
  type RequestId,
  safeParseFrameText,
  utf8Length,
} from "@human-plus/core/protocol";

/** What a relay reads of a frame: whether it is a request, a notification or a response, its id and its method. */
export type IncomingFrame = { readonly text: string; readonly bytes: number } & (
  | { readonly kind: "request"; readonly id: RequestId }
  | { readonly kind: "notification"; readonly method: string }
  | { readonly kind: "response"; readonly id: RequestId | null }
);

/**
 * Reads the envelope of a frame. The text is carried on as it came, but for line breaks between its tokens, which
 * become spaces: a line of an event stream cannot hold them, and inside strings JSON has none. Writing the frame anew
 * would change its numbers.
 */
export function readIncomingFrame(text: string, maxBytes: number): IncomingFrame | RelayErrorCode {
  const parsed = safeParseFrameText(text, maxBytes);
  if (!parsed.ok) {
    const rule = parsed.issues[0]?.rule;
    if (rule === "json") return "invalid_json";
    return rule === "x-max-bytes" && parsed.issues[0]?.pointer === "" ? "payload_too_large" : "missing_fields";
  }
  return describe(parsed.value, text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]/g, " ") : text);
}

function describe(frame: Frame, text: string): IncomingFrame {
  const bytes = utf8Length(text);
  if (frame.method === undefined) return { kind: "response", id: frame.id, text, bytes };
  if (frame.id === undefined) return { kind: "notification", method: frame.method, text, bytes };
  return { kind: "request", id: frame.id, text, bytes };
}
