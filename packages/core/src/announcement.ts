import { argument } from "./argument.ts";
import type { AttachmentRow } from "./attachment.ts";
import { jsonRpcVersion, methods } from "./gen/constants.ts";
import { safeParseActivity } from "./gen/parsers.ts";
import type { JsonObject, Notification, Priority } from "./gen/types.ts";

/** What an agent says it is doing. PROTOCOL.md section 4. */
export interface AnnounceOptions {
  /** In plain words: 1 to 256 characters. */
  action: string;
  /** The handle it works on. @default none */
  target?: string | undefined;
  /** How much attention it asks for. @default "normal" */
  priority?: Priority | undefined;
  /** Ties announcements of one piece of work together. @default none */
  correlationId?: string | undefined;
}

/** @throws HumanPlusError `invalid_argument` */
export function buildAnnouncement({ participant, invitation }: AttachmentRow, options: AnnounceOptions): Notification {
  const { action, target, priority = "normal", correlationId } = options;
  const { id, name, color } = participant;
  const activity = {
    actor: { id, name, ...(color === undefined ? {} : { color }), type: "agent" },
    surfaceId: invitation.surfaceId,
    sessionId: invitation.sessionId,
    action,
    ...(target === undefined ? {} : { target }),
    priority,
    ...(correlationId === undefined ? {} : { correlationId }),
  };
  const params = argument("activity", safeParseActivity(activity)) as unknown as JsonObject;
  return { jsonrpc: jsonRpcVersion, method: methods.activity, params };
}
