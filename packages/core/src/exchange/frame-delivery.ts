import { safeParseFrameText } from "../frame-text.ts";
import { limits } from "../gen/constants.ts";
import type { RequestId } from "../gen/types.ts";
import type { Issue } from "../parse/issue.ts";
import type { Delivery } from "../transport.ts";

export interface FrameDeliveryOptions {
  cursor?: string | undefined;
  /** UTF-8 bytes the text may have. @default limits.frameBytes */
  maxBytes?: number | undefined;
}

/** Reads the text of one frame, once. Text that is no frame becomes a malformed delivery that names the request it answers, where that can be told. */
export function frameDelivery(
  text: string,
  { cursor, maxBytes = limits.frameBytes }: FrameDeliveryOptions = {},
): Delivery {
  const parsed = safeParseFrameText(text, maxBytes);
  return parsed.ok ? { kind: "frame", frame: parsed.value, cursor } : malformedDelivery(text, parsed.issues, cursor);
}

/**
 * Something that is no frame.
 *
 * @param text what came, or its beginning: it is looked through for the id of the request that it answers
 */
export function malformedDelivery(text: string, issues: readonly Issue[], cursor: string | undefined): Delivery {
  return { kind: "malformed", id: requestIdIn(text), issues, cursor };
}

const LOOKED_THROUGH = 1_024;
const ID = /"id"\s*:\s*(?:"([!#-[\]-~]{1,128})"|(-?\d{1,15})(?=[\s,}]))/;

/**
 * The id that a broken frame seems to have. A guess is enough: ids of the SDK are unguessable, so that a wrong one
 * names nobody's request.
 */
function requestIdIn(text: string): RequestId | undefined {
  const found = ID.exec(text.slice(0, LOOKED_THROUGH)) ?? ID.exec(text.slice(-LOOKED_THROUGH));
  if (found === null) return undefined;
  return found[1] ?? Number(found[2]);
}
