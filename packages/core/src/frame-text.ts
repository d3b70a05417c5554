import { limits } from "./gen/constants.ts";
import { safeParseFrame } from "./gen/parsers.ts";
import type { Frame } from "./gen/types.ts";
import type { Parsed } from "./parse/issue.ts";
import { parseJsonText } from "./parse/json.ts";

/**
 * Reads one frame as it comes over the wire: bounded before it is parsed, and parsed once. Never throws.
 *
 * @param maxBytes UTF-8 bytes the text may have. PROTOCOL.md section 8.
 */
export function safeParseFrameText(text: string, maxBytes: number = limits.frameBytes): Parsed<Frame> {
  const parsed = parseJsonText(text, maxBytes);
  return parsed.ok ? safeParseFrame(parsed.value) : parsed;
}
